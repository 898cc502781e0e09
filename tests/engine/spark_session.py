"""A real Spark for tests: a driver and two executors in processes of their own, whose files go away
with them.
"""

import os
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
LOGGING = """\
rootLogger.level = off
logger.spark.name = org.apache.spark
logger.spark.level = off
rootLogger.appenderRef.stderr.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n%ex
"""
SETTINGS = {
    "spark.driver.extraJavaOptions": QUICK,
    "spark.executor.extraJavaOptions": QUICK,
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
    "spark.task.maxFailures": "3",
    "spark.sql.files.maxPartitionBytes": "256k",  # so that small files are parts of their own
    "spark.sql.files.openCostInBytes": "256k",
}


@contextmanager
def cluster(count=2, memory=1024, **settings):
    """Yield a session on executors of one core, each with so many megabytes; its home is a folder
    of links, for executors write into theirs.
    """
    import pyspark
    from pyspark.sql import SparkSession

    with tempfile.TemporaryDirectory(prefix="spark-home-", ignore_cleanup_errors=True) as home:
        for part in ("bin", "jars", "python"):
            Path(home, part).symlink_to(Path(pyspark.__file__).parent / part)
        Path(home, "log4j2.properties").write_text(LOGGING)
        places = dict.fromkeys(("SPARK_HOME", "SPARK_CONF_DIR", "SPARK_LOCAL_DIRS"), home)
        pythons = dict.fromkeys(("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"), sys.executable)
        with patch.dict(os.environ, places | pythons | {"SPARK_LOCAL_IP": "127.0.0.1"}):
            master = f"local-cluster[{count},1,{memory}]"
            builder = SparkSession.builder.master(master).appName("tests")
            own = {
                "spark.sql.warehouse.dir": f"{home}/warehouse",
                "spark.executor.memory": f"{memory}m",
            }
            for name, value in (SETTINGS | own | settings).items():
                builder = builder.config(name, value)
            session = builder.getOrCreate()
            try:
                yield session
            finally:
                session.stop()
                _end_driver()


def executors():
    """Return the process ids of the executors: children of the driver, which is a child of this
    process.
    """
    from pyspark import SparkContext

    driver = SparkContext._gateway.proc.pid
    children = [
        one for one in Path("/proc").iterdir() if one.name.isdigit() and _parent(one) == driver
    ]
    return sorted(
        int(one.name)
        for one in children
        if b"CoarseGrainedExecutorBackend" in (one / "cmdline").read_bytes()
    )


def _parent(process):
    try:
        return int((process / "stat").read_text().rsplit(")", 1)[1].split()[1])
    except OSError:
        return -1


def _end_driver():
    """End the driver's process as well: it would keep its environment for the next session."""
    from pyspark import SparkContext

    gateway = SparkContext._gateway
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait(30)
    SparkContext._gateway = SparkContext._jvm = None
