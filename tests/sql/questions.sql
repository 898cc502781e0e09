-- What analysts type.  A line is a query.  After "--" stand: "refused RULE", what we refuse by that
-- rule; "duckdb QUERY", how DuckDB spells what is meant where it differs; "unlike NUMBER", by how
-- much, as a share, the meanings may differ.

-- How many
SELECT COUNT(*) FROM customers
SELECT COUNT(*) AS total FROM customers;
select count(*) from Customers
SELECT COUNT(1) FROM customers
SELECT COUNT(uid) FROM customers
SELECT COUNT(c.uid) AS people FROM customers AS c WHERE c.age > 40
SELECT COUNT(DISTINCT uid) FROM customers
SELECT COUNT(age) FROM customers
SELECT COUNT(*) FROM customers WHERE age >= 18
SELECT COUNT(*) FROM customers WHERE age > 30 AND region = 'north'
SELECT COUNT(*) FROM customers WHERE age BETWEEN 25 AND 34
SELECT COUNT(*) FROM customers WHERE age NOT BETWEEN 25 AND 34
SELECT COUNT(*) FROM customers WHERE region IN ('north', 'south')
SELECT COUNT(*) FROM customers WHERE region NOT IN ('north', 'south')
SELECT COUNT(*) FROM customers WHERE region <> 'north'
SELECT COUNT(*) FROM customers WHERE region != 'north'
SELECT COUNT(*) FROM customers WHERE NOT region = 'north'
SELECT COUNT(*) FROM customers WHERE region = 'north' OR age < 25
SELECT COUNT(*) FROM customers WHERE (region = 'north' OR region = 'east') AND NOT married = 'yes'
SELECT COUNT(*) FROM customers WHERE region LIKE 'n%'
SELECT COUNT(*) FROM customers WHERE region ILIKE '%ST'
SELECT COUNT(*) FROM customers WHERE region NOT LIKE '%th'
SELECT COUNT(*) FROM customers WHERE 18 <= age AND age < 65
SELECT COUNT(*) FROM customers WHERE age > 20 + 5
SELECT COUNT(*) FROM customers WHERE age * 2 > 60
SELECT COUNT(*) FROM customers WHERE age % 10 = 0
SELECT COUNT(*) FROM customers WHERE MOD(age, 2) = 1
SELECT COUNT(*) FROM customers WHERE ABS(age - 40) <= 5
SELECT COUNT(*) FROM customers WHERE age IS NOT NULL
SELECT COUNT(*) FROM customers WHERE age IS NULL
SELECT COUNT(*) FROM customers WHERE 1 = 1
SELECT COUNT(*) FROM customers WHERE TRUE AND age > 50
SELECT COUNT(*) FROM customers WHERE 1 = 0
SELECT COUNT(*) FROM customers WHERE age > (-10)
SELECT COUNT(*) FROM customers WHERE age = 30 OR age = 40 OR age = 50
SELECT COUNT(*) FROM customers WHERE age > visits
SELECT COUNT(*) FROM customers WHERE visits >= 3 AND age - visits > 20
SELECT COUNT(*) FROM customers WHERE income > 40000
SELECT COUNT(*) FROM customers WHERE income >= 20000 AND income < 60000
SELECT COUNT(*) FROM customers WHERE plan = 'premium'
SELECT COUNT(*) FROM customers WHERE plan = 'premium' AND age < 30
SELECT COUNT(*) FROM customers WHERE plan = 'premium' OR age < 30
SELECT COUNT(*) FROM customers WHERE since >= 2018
SELECT COUNT(*) FROM customers WHERE since BETWEEN 2016 AND 2019 AND region = 'west'
SELECT COUNT(*) FROM customers WHERE since % 2 = 0 AND married = 'no'
SELECT COUNT(*) FROM customers c WHERE c.age > 30
SELECT COUNT(*) FROM customers AS c WHERE c.region = 'east' AND c.plan = 'free'
SELECT COUNT(*) FILTER (WHERE age > 60) FROM customers
SELECT COUNT(*) FILTER (WHERE age > 60) AS old, COUNT(*) FILTER (WHERE age < 30) AS young FROM customers
SELECT COUNT_IF(age > 60) FROM customers
SELECT COUNT(CASE WHEN age > 60 THEN 1 END) FROM customers
SELECT SUM(CASE WHEN age > 60 THEN 1 ELSE 0 END) AS old FROM customers
SELECT COUNT(CASE WHEN region = 'north' AND married = 'yes' THEN 1 END) AS n FROM customers
SELECT COUNT(*) FROM customers WHERE region = 'North'
SELECT COUNT(*) FROM customers WHERE region = 'atlantis'

-- Sums, averages and spreads
SELECT SUM(visits) FROM customers
SELECT AVG(age) FROM customers
SELECT AVG(age) FROM customers WHERE region = 'north'
SELECT AVG(income) FROM customers WHERE age BETWEEN 30 AND 50
SELECT AVG(age), AVG(visits), COUNT(*) FROM customers
SELECT AVG(age) AS mean_age, STDDEV_POP(age) AS spread FROM customers
SELECT VAR_POP(age) FROM customers
SELECT STDDEV(age) FROM customers -- unlike 0.01
SELECT VARIANCE(visits) FROM customers WHERE region = 'south' -- unlike 0.03
SELECT SUM(age + visits) FROM customers
SELECT SUM(age - visits) FROM customers
SELECT SUM(visits + 5) FROM customers
SELECT SUM(visits) + 5 FROM customers
SELECT SUM(income / 100) FROM customers
SELECT SUM(2 * visits) FROM customers
SELECT SUM(-visits) FROM customers
SELECT AVG(2 * age - visits + 1) FROM customers
SELECT SUM(age * visits) FROM customers
SELECT AVG(age * visits) FROM customers WHERE region = 'east'
SELECT SUM(visits * visits) FROM customers
SELECT AVG((age - 40) * (visits - 3)) FROM customers
SELECT SUM(age * since) FROM customers
SELECT AVG(income / age) FROM customers
SELECT SUM(age / visits) FROM customers
SELECT AVG(ABS(age - 40)) FROM customers
SELECT AVG(SQRT(visits)) FROM customers
SELECT AVG(FLOOR(age / 10)) FROM customers
SELECT AVG(CEIL(visits / 2)) FROM customers
SELECT SUM(ROUND(age / 10)) FROM customers
SELECT AVG(CASE WHEN married = 'yes' THEN age END) FROM customers
SELECT SUM(CASE WHEN region = 'north' THEN visits ELSE 0 END) FROM customers
SELECT AVG(CASE WHEN age < 30 THEN 1 WHEN age < 60 THEN 2 ELSE 3 END) FROM customers
SELECT AVG(age) FILTER (WHERE region = 'north') FROM customers
SELECT SUM(visits) FILTER (WHERE age > 30 AND married = 'no') FROM customers
SELECT AVG(since) FROM customers
SELECT SUM(since) FROM customers WHERE plan = 'free'
SELECT AVG(since) FROM customers WHERE age > 40
SELECT SUM(region) FROM customers -- refused category-measure
SELECT AVG(DISTINCT age) FROM customers -- refused distinct
SELECT SUM(age * age * visits * since * plan) FROM customers -- refused category-measure

-- Medians and quantiles
SELECT MEDIAN(age) FROM customers -- duckdb SELECT QUANTILE_DISC(age, 0.5) FROM customers
SELECT QUANTILE(age, 0.9) FROM customers -- duckdb SELECT QUANTILE_DISC(age, 0.9) FROM customers
SELECT QUANTILE_DISC(age, 0.25) FROM customers
SELECT PERCENTILE_DISC(0.75) WITHIN GROUP (ORDER BY age) FROM customers
SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY income) FROM customers -- duckdb SELECT QUANTILE_DISC(income, 0.5) FROM customers
SELECT MEDIAN(visits) FROM customers WHERE region = 'north' -- duckdb SELECT QUANTILE_DISC(visits, 0.5) FROM customers WHERE region = 'north'
SELECT region, MEDIAN(age) AS m FROM customers GROUP BY region -- duckdb SELECT region, QUANTILE_DISC(age, 0.5) AS m FROM customers GROUP BY region
SELECT MEDIAN(2 * age + 1) FROM customers -- duckdb SELECT QUANTILE_DISC(2 * age + 1, 0.5) FROM customers
SELECT MEDIAN(age) FILTER (WHERE married = 'yes') FROM customers -- duckdb SELECT QUANTILE_DISC(age, 0.5) FILTER (WHERE married = 'yes') FROM customers
SELECT MIN(age), MAX(age) FROM customers
SELECT MAX(visits) FROM customers WHERE region = 'west'
SELECT region, MIN(age) AS youngest FROM customers GROUP BY region
SELECT ROUND(MEDIAN(age), 0) AS m FROM customers -- duckdb SELECT QUANTILE_DISC(age, 0.5) FROM customers
SELECT MEDIAN(amount) FROM purchases WHERE category = 'food' -- duckdb SELECT QUANTILE_DISC(amount, 0.5) FROM purchases WHERE category = 'food'
SELECT MAX(age) - MIN(age) FROM customers
SELECT region, QUANTILE(age, 0.75) - QUANTILE(age, 0.25) AS iqr FROM customers GROUP BY region -- duckdb SELECT region, QUANTILE_DISC(age, 0.75) - QUANTILE_DISC(age, 0.25) AS iqr FROM customers GROUP BY region
SELECT (MIN(visits) + MAX(visits)) / 2 AS middle FROM customers
SELECT 2 * MEDIAN(age) + 1 FROM customers -- duckdb SELECT 2 * QUANTILE_DISC(age, 0.5) + 1 FROM customers
SELECT MAX(age) - AVG(age) FROM customers -- refused quantile-formula
SELECT MAX(age) / MIN(age) FROM customers -- refused quantile-formula
SELECT MEDIAN(since) FROM customers -- duckdb SELECT QUANTILE_DISC(since, 0.5) FROM customers
SELECT QUANTILE(since, 0.1), QUANTILE(since, 0), QUANTILE(since, 1) FROM customers -- duckdb SELECT QUANTILE_DISC(since, 0.1), MIN(since), MAX(since) FROM customers
SELECT MIN(since) AS first, MAX(since) AS last FROM customers WHERE plan = 'free' OR since > 2015
SELECT COUNT(*) FROM customers WHERE since % 2 = NULL OR plan = 'free'
SELECT COUNT(*) FROM customers WHERE CASE WHEN since = NULL THEN FALSE ELSE TRUE END
SELECT COUNT(*) FROM customers WHERE CASE WHEN opened = NULL THEN FALSE ELSE TRUE END
SELECT plan, MAX(since) - MIN(since) AS years FROM customers GROUP BY plan
SELECT MEDIAN(since) FROM customers WHERE age > 40 AND plan = 'premium' -- duckdb SELECT QUANTILE_DISC(since, 0.5) FROM customers WHERE age > 40 AND plan = 'premium'
SELECT region, MEDIAN(since) AS m FROM customers GROUP BY region -- duckdb SELECT region, QUANTILE_DISC(since, 0.5) AS m FROM customers GROUP BY region
SELECT MEDIAN(since) FILTER (WHERE married = 'yes') FROM customers -- duckdb SELECT QUANTILE_DISC(since, 0.5) FILTER (WHERE married = 'yes') FROM customers
SELECT MAX(since) FROM customers JOIN purchases USING (uid) WHERE amount > 15
SELECT MEDIAN(2 * since) FROM customers -- refused public-quantile
SELECT MEDIAN(spent) FROM customers -- refused public-quantile
SELECT MAX(plan) FROM customers -- refused category-measure
SELECT MEDIAN(region) FROM customers -- refused category-measure
SELECT QUANTILE(age, 90) FROM customers -- refused share
SELECT MEDIAN(age + visits) FROM customers -- refused one-column
SELECT MODE(region) FROM customers -- refused function

-- Shares and ratios
SELECT COUNT(*) FILTER (WHERE age < 30) / COUNT(*) FROM customers
SELECT 100.0 * COUNT(*) FILTER (WHERE married = 'yes') / COUNT(*) AS percent FROM customers
SELECT 100 * SUM(CASE WHEN region = 'north' THEN 1 ELSE 0 END) / COUNT(*) AS percent FROM customers
SELECT AVG(CASE WHEN married = 'yes' THEN 1 ELSE 0 END) AS share FROM customers
SELECT SUM(income) / SUM(visits) AS per_visit FROM customers
SELECT ROUND(AVG(age), 1) FROM customers
SELECT ROUND(100.0 * COUNT_IF(age > 50) / COUNT(*), 2) AS percent FROM customers -- duckdb SELECT ROUND(100.0 * COUNT(*) FILTER (WHERE age > 50) / COUNT(*), 2) FROM customers
SELECT (SUM(age) - SUM(visits)) / COUNT(*) + 1 AS x FROM customers
SELECT AVG(age) - AVG(visits) FROM customers
SELECT AVG(age) FILTER (WHERE married = 'yes') - AVG(age) FILTER (WHERE married = 'no') AS gap FROM customers
SELECT COUNT_IF(visits > 3) / COUNT_IF(visits <= 3) AS odds FROM customers -- duckdb SELECT COUNT(*) FILTER (WHERE visits > 3) / COUNT(*) FILTER (WHERE visits <= 3) FROM customers
SELECT -COUNT(*) FROM customers
SELECT COUNT(*) * 2 FROM customers WHERE region = 'east'
SELECT SUM(age * visits) / COUNT(*) - AVG(age) * AVG(visits) AS covariance FROM customers
SELECT ABS(COUNT(*)) FROM customers -- refused select-expression
SELECT COUNT(*) / (SELECT COUNT(*) FROM customers) FROM customers WHERE age > 30 -- refused subquery

-- Groups
SELECT region, COUNT(*) FROM customers GROUP BY region
SELECT region, COUNT(*) AS n FROM customers GROUP BY region ORDER BY n DESC
SELECT region, COUNT(*) AS n FROM customers GROUP BY 1 ORDER BY 2 DESC LIMIT 3
SELECT region, married, COUNT(*) AS n FROM customers GROUP BY region, married
SELECT region AS r, AVG(age) AS a FROM customers GROUP BY r
SELECT age, COUNT(*) AS n FROM customers GROUP BY age ORDER BY age
SELECT FLOOR(age / 10) AS decade, COUNT(*) AS n FROM customers GROUP BY decade ORDER BY decade
SELECT FLOOR(age / 10) * 10 AS decade, AVG(visits) AS v FROM customers GROUP BY 1
SELECT age - age % 10 AS decade, COUNT(*) AS n FROM customers GROUP BY 1
SELECT age >= 40 AS older, COUNT(*) AS n FROM customers GROUP BY older -- duckdb SELECT CASE WHEN age >= 40 THEN 1 ELSE 0 END AS older, COUNT(*) AS n FROM customers GROUP BY older
SELECT CASE WHEN age < 30 THEN 'young' WHEN age < 60 THEN 'middle' ELSE 'old' END AS band, COUNT(*) AS n FROM customers GROUP BY band
SELECT CASE WHEN age < 30 THEN 'young' ELSE 'old' END AS band, region, AVG(visits) AS v FROM customers GROUP BY 1, 2
SELECT CASE region WHEN 'north' THEN 'up' ELSE 'down' END AS side, COUNT(*) AS n FROM customers GROUP BY side
SELECT plan, COUNT(*) AS n, AVG(age) AS a FROM customers GROUP BY plan
SELECT since, COUNT(*) AS n FROM customers GROUP BY since ORDER BY since
SELECT since, region, AVG(age) AS a FROM customers GROUP BY since, region
SELECT plan, married, SUM(visits) AS s FROM customers WHERE age > 20 GROUP BY plan, married
SELECT region, COUNT(*) AS n FROM customers GROUP BY region HAVING COUNT(*) > 60
SELECT region, AVG(age) AS a FROM customers GROUP BY region HAVING a > 40 ORDER BY a
SELECT region, SUM(visits) AS s FROM customers GROUP BY region HAVING SUM(visits) > 100 AND COUNT(*) > 20
SELECT region, 100.0 * COUNT(*) FILTER (WHERE married = 'yes') / COUNT(*) AS p FROM customers GROUP BY region
SELECT region, COUNT(*) AS n FROM customers WHERE age > 40 GROUP BY region ORDER BY region LIMIT 2 OFFSET 1
SELECT visits, COUNT(*) AS n FROM customers GROUP BY visits HAVING n > 10 ORDER BY n DESC, visits
SELECT COUNT(*) AS n FROM customers GROUP BY region
SELECT region, STDDEV_POP(age) AS s FROM customers GROUP BY region
SELECT region FROM customers GROUP BY region -- refused no-aggregate
SELECT region, COUNT(*) FROM customers -- refused not-grouped
SELECT DISTINCT region FROM customers -- refused distinct
SELECT FLOOR(since / 10) AS decade, COUNT(*) FROM customers GROUP BY 1
SELECT FLOOR(spent / 10), COUNT(*) FROM customers GROUP BY 1 -- refused public-group
SELECT age + visits AS x, COUNT(*) FROM customers GROUP BY x -- refused group-expression
SELECT region, COUNT(*) OVER () FROM customers GROUP BY region -- refused window
SELECT region, COUNT(*) FROM customers GROUP BY ROLLUP(region) -- refused function
SELECT region, married, COUNT(*) FROM customers GROUP BY CUBE(region, married) -- refused function
SELECT region, COUNT(*) FROM customers GROUP BY region HAVING age > 30 -- refused having-item
SELECT STRING_AGG(region) FROM customers -- refused function
SELECT COUNT(DISTINCT region) FROM customers -- refused distinct
SELECT CORR(age, visits) FROM customers -- refused function

-- Lists of records
SELECT COUNT(*) FROM purchases
SELECT COUNT(amount) FROM purchases
SELECT SUM(amount) FROM purchases
SELECT AVG(amount) FROM purchases
SELECT SUM(amount * quantity) AS revenue FROM purchases
SELECT category, SUM(amount * quantity) AS revenue FROM purchases GROUP BY category ORDER BY revenue DESC
SELECT category, COUNT(*) AS sold, AVG(amount) AS price FROM purchases GROUP BY category
SELECT COUNT(*) FROM purchases WHERE category = 'food' AND amount > 10
SELECT SUM(quantity) FROM purchases WHERE amount BETWEEN 5 AND 15
SELECT AVG(amount) FILTER (WHERE category = 'food') FROM purchases
SELECT quantity, COUNT(*) AS n FROM purchases GROUP BY quantity
SELECT COUNT(DISTINCT uid) FROM purchases -- refused distinct-people
SELECT uid, COUNT(*) FROM purchases GROUP BY uid -- refused uid
SELECT COUNT(*) FROM purchases WHERE uid = 5 -- refused uid

-- Joins
SELECT COUNT(*) FROM customers JOIN purchases USING (uid)
SELECT COUNT(*) FROM customers JOIN purchases ON customers.uid = purchases.uid
SELECT COUNT(*) FROM customers c JOIN purchases p ON c.uid = p.uid WHERE c.age > 40 AND p.category = 'food'
SELECT COUNT(*) FROM customers c INNER JOIN purchases p ON p.uid = c.uid
SELECT COUNT(*) FROM customers c, purchases p WHERE c.uid = p.uid AND p.amount > 10
SELECT SUM(amount) FROM customers, purchases WHERE customers.uid = purchases.uid AND region = 'north'
SELECT region, SUM(amount) AS spent FROM purchases JOIN customers USING (uid) GROUP BY region
SELECT plan, AVG(amount) AS a FROM purchases JOIN customers USING (uid) GROUP BY plan
SELECT COUNT(*) FROM customers c JOIN devices d ON c.uid = d.uid AND d.os = 'ios' WHERE c.age < 30
SELECT os, AVG(age) AS a FROM customers JOIN devices USING (uid) GROUP BY os
SELECT SUM(c.age * d.screen) FROM customers c JOIN devices d USING (uid)
SELECT COUNT(*) FROM purchases p JOIN customers c USING (uid) JOIN devices d USING (uid) WHERE d.os = 'android' AND c.region = 'east'
SELECT COUNT(*) FROM customers c LEFT JOIN devices d ON c.uid = d.uid WHERE d.os = 'ios'
SELECT COUNT(*) FROM purchases p LEFT JOIN customers c ON p.uid = c.uid WHERE c.age > 30
SELECT SUM(amount) FROM customers LEFT JOIN purchases USING (uid) WHERE age > 30
SELECT COUNT(p.amount) FROM customers c LEFT OUTER JOIN purchases p ON c.uid = p.uid
SELECT COUNT(*) FROM customers LEFT JOIN purchases USING (uid) -- refused outer-list
SELECT COUNT(*) FROM customers RIGHT JOIN purchases USING (uid) -- refused outer-join
SELECT COUNT(*) FROM customers FULL OUTER JOIN devices USING (uid) -- refused outer-join
SELECT COUNT(*) FROM customers CROSS JOIN devices -- refused cross-join
SELECT COUNT(*) FROM customers NATURAL JOIN devices -- refused cross-join
SELECT COUNT(*) FROM customers, devices -- refused join-without-key
SELECT COUNT(*) FROM customers JOIN devices ON customers.age = devices.screen -- refused join-key
SELECT COUNT(*) FROM customers a JOIN customers b USING (uid) -- refused self-join
SELECT COUNT(*) FROM customers JOIN orders USING (uid) -- refused unknown-table

-- Queries inside queries
WITH adults AS (SELECT * FROM customers WHERE age >= 18) SELECT COUNT(*) FROM adults
WITH adults AS (SELECT * FROM customers WHERE age >= 18) SELECT region, AVG(visits) AS v FROM adults GROUP BY region
WITH a AS (SELECT uid, age FROM customers WHERE region = 'north'), b AS (SELECT uid, amount FROM purchases) SELECT SUM(amount) FROM a JOIN b ON a.uid = b.uid WHERE age > 30
WITH a AS (SELECT * FROM customers WHERE age > 20), b AS (SELECT * FROM a WHERE region = 'east') SELECT COUNT(*) FROM b
SELECT COUNT(*) FROM (SELECT * FROM customers WHERE age > 30) t WHERE t.region = 'north'
SELECT AVG(decade) FROM (SELECT FLOOR(age / 10) AS decade FROM customers) AS t
SELECT band, COUNT(*) AS n FROM (SELECT CASE WHEN age < 40 THEN 'young' ELSE 'old' END AS band FROM customers) t GROUP BY band
SELECT SUM(total) FROM (SELECT amount * quantity AS total FROM purchases WHERE category = 'food') t
SELECT COUNT(*) FROM customers WHERE uid IN (SELECT uid FROM devices WHERE os = 'ios')
SELECT COUNT(*) FROM customers WHERE uid NOT IN (SELECT uid FROM devices WHERE os = 'ios') AND age > 30
SELECT AVG(age) FROM customers c WHERE EXISTS (SELECT 1 FROM devices d WHERE d.uid = c.uid AND d.screen > 5)
SELECT COUNT(*) FROM customers c WHERE NOT EXISTS (SELECT * FROM devices d WHERE d.uid = c.uid AND d.os = 'android')
SELECT COUNT(*) FROM customers WHERE uid IN (SELECT uid FROM purchases WHERE amount > 10) -- refused semi-join
SELECT AVG(n) FROM (SELECT uid, COUNT(*) AS n FROM purchases GROUP BY uid) t -- refused inner-query
SELECT COUNT(*) FROM customers WHERE age > (SELECT AVG(age) FROM customers) -- refused subquery
WITH t AS (SELECT region, COUNT(*) AS n FROM customers GROUP BY region) SELECT SUM(n) FROM t -- refused inner-query
SELECT COUNT(*) FROM (SELECT age FROM customers) t WHERE region = 'north' -- refused unknown-column
SELECT COUNT(*) FROM customers UNION SELECT COUNT(*) FROM devices -- refused union

-- What records of single people would need
SELECT * FROM customers -- refused select-star
SELECT age FROM customers -- refused no-aggregate
SELECT * FROM customers LIMIT 10 -- refused select-star
SELECT region, age FROM customers ORDER BY age DESC LIMIT 1 -- refused no-aggregate
SELECT COUNT(*) FROM customers WHERE height > 180 -- refused unknown-column
SELECT COUNT(*) FROM customer -- refused unknown-table
SELECT COUNT(*) FROM customers WHERE age = 'old' -- refused literal-type
SELECT COUNT(*) FROM customers WHERE region > 'm' -- refused range-category
SELECT COUNT(*) FROM customers WHERE age -- refused bare-column
SELECT COUNT(*) FROM customers WHERE 18 < age < 30 -- refused chained-comparison
SELECT COUNT(*) FROM customers WHERE CAST(age AS TEXT) = '30' -- refused cast
SELECT COUNT(*) FROM customers WHERE UPPER(region) = 'NORTH' -- refused function
SELECT COUNT(*) FROM customers WHERE income = visits * 1000 AND age = since -- refused column-comparison
SELECT COUNT(*) FROM customers; DROP TABLE customers -- refused several-statements
UPDATE customers SET age = 5 -- refused not-select
DELETE FROM customers -- refused not-select
SELECT COUNT(*) -- refused syntax
SELECT COUNT(*) FROM customers WHERE -- refused syntax
SELECT COUNT(* FROM customers -- refused syntax

-- Dates
SELECT COUNT(*) FROM devices WHERE bought >= '2024-01-01'
SELECT COUNT(*) FROM devices WHERE bought = '2023-05-17'
SELECT COUNT(*) FROM devices WHERE bought BETWEEN '2023-06-01' AND '2023-08-31'
SELECT COUNT(*) FROM devices WHERE bought >= DATE '2023-06-01' AND bought < DATE '2023-09-01'
SELECT COUNT(*) FROM devices WHERE bought > CAST('2024-03-01' AS DATE)
SELECT COUNT(*) FROM devices WHERE bought > '2024-03-01'::DATE
SELECT COUNT(*) FROM devices WHERE bought IN ('2023-01-01', '2023-02-07')
SELECT COUNT(*) FROM devices WHERE bought < TIMESTAMP '2024-02-29 12:00:00'
SELECT COUNT(*) FROM devices WHERE bought >= DATE '2024-12-31' - INTERVAL '90 days'
SELECT COUNT(*) FROM devices WHERE bought >= DATE '2024-05-31' - INTERVAL 3 MONTH
SELECT COUNT(*) FROM devices WHERE bought + INTERVAL 1 YEAR > '2024-07-01'
SELECT COUNT(*) FROM devices WHERE EXTRACT(YEAR FROM bought) = 2024
SELECT COUNT(*) FROM devices WHERE EXTRACT(month FROM bought) IN (6, 7, 8) AND os = 'ios'
SELECT COUNT(*) FROM devices WHERE YEAR(bought) = 2023 AND MONTH(bought) < 4
SELECT COUNT(*) FROM devices WHERE DAYOFWEEK(bought) IN (0, 6)
SELECT COUNT(*) FROM devices WHERE DATE_TRUNC('month', bought) = '2024-02-01'
SELECT EXTRACT(YEAR FROM bought) AS year, COUNT(*) FROM devices GROUP BY year ORDER BY year
SELECT DATE_TRUNC('month', bought) AS month, COUNT(*) AS n FROM devices GROUP BY month ORDER BY month
SELECT DATE_TRUNC('quarter', bought), COUNT(*) FROM devices GROUP BY 1 ORDER BY 1
SELECT QUARTER(bought) AS q, os, COUNT(*) FROM devices GROUP BY q, os
SELECT MONTH(bought) AS m, AVG(screen) FROM devices GROUP BY m
SELECT AVG(bought - DATE '2023-01-01') FROM devices WHERE os = 'android'
SELECT AVG(EXTRACT(MONTH FROM bought)) FROM devices
SELECT MEDIAN(DATE_PART('month', bought)) FROM devices -- duckdb SELECT QUANTILE_DISC(DATE_PART('month', bought), 0.5) FROM devices
SELECT CASE WHEN bought < '2024-01-01' THEN 'old' ELSE 'new' END AS age, COUNT(*) FROM devices GROUP BY age
SELECT COUNT(*) FILTER (WHERE bought >= '2024-01-01') * 100.0 / COUNT(*) FROM devices
SELECT COUNT(*) FROM customers WHERE opened >= '2024-07-01'
SELECT COUNT(*) FROM customers WHERE opened BETWEEN '2024-03-01' AND '2024-05-31' AND age > 40
SELECT COUNT(*) FROM customers WHERE EXTRACT(MONTH FROM opened) = 2
SELECT AVG(screen) FROM devices JOIN customers USING (uid) WHERE opened < '2024-04-01' AND bought > '2024-01-01'
SELECT MAX(bought) FROM devices -- unlike 0.0003
SELECT MIN(bought) AS first, MAX(bought) AS last FROM devices WHERE os = 'ios' -- unlike 0.0003
SELECT MEDIAN(bought) FROM devices -- unlike 0.0003
SELECT os, MAX(returned) AS last FROM devices GROUP BY os HAVING last >= '2024-06-01'
SELECT os, MAX(returned) AS last FROM devices GROUP BY os HAVING last >= 3 -- refused literal-type
SELECT os, MAX(returned) AS last FROM devices GROUP BY os HAVING -last > 3 -- refused date-measure
SELECT os, MAX(returned) AS last FROM devices GROUP BY os HAVING last + 1.5 > last -- refused date-arithmetic
SELECT DATE_TRUNC('year', bought) AS year, MIN(returned) FROM devices GROUP BY year
SELECT AVG(returned - bought) FROM devices
SELECT AVG(returned - bought) AS days FROM devices WHERE os = 'ios' AND screen > 4
SELECT SUM(DATE_DIFF('month', bought, returned)) FROM devices
SELECT AVG(DATEDIFF('quarter', bought, returned)) FROM devices
SELECT COUNT(*) FROM devices WHERE returned > bought
SELECT COUNT(*) FROM devices WHERE returned - bought > 90
SELECT COUNT(*) FROM devices WHERE bought + INTERVAL '30 days' < returned
SELECT COUNT(*) FROM devices WHERE bought + 30 < returned
SELECT COUNT(*) FROM devices WHERE bought > DATE '2024-05-01' - 30
SELECT COUNT(*) FROM devices WHERE bought BETWEEN DATE '2024-01-01' AND DATE '2024-01-01' + INTERVAL '1 month'
SELECT COUNT(*) FROM devices WHERE DATE_DIFF('month', bought, DATE '2024-12-31') <= 4
SELECT DATE_TRUNC('month', opened) AS month, COUNT(*) FROM customers GROUP BY month ORDER BY month
SELECT EXTRACT(QUARTER FROM opened) AS q, AVG(age) FROM customers GROUP BY q
SELECT DAYOFWEEK(opened) AS d, region, COUNT(*) FROM customers GROUP BY d, region
SELECT CASE WHEN opened < '2024-07-01' THEN 'first' ELSE 'second' END AS half, COUNT(*) FROM customers GROUP BY half
SELECT FLOOR(since / 5) * 5 AS since5, COUNT(*) FROM customers GROUP BY since5
SELECT SUM(bought) FROM devices -- refused date-measure
SELECT COUNT(*) FROM devices WHERE bought > 2024 -- refused literal-type
SELECT COUNT(*) FROM devices WHERE bought > 'last week' -- refused date
SELECT COUNT(*) FROM devices WHERE bought > CURRENT_DATE -- refused now
SELECT COUNT(*) FROM devices WHERE bought > NOW() - INTERVAL '30 days' -- refused now
SELECT COUNT(*) FROM devices WHERE bought > DATE '2024-05-01' - 1.5 -- refused date-arithmetic
SELECT COUNT(*) FROM devices WHERE bought > DATE '2024-05-01' - INTERVAL '3 moons' -- refused interval
SELECT DATE_TRUNC('decade', bought), COUNT(*) FROM devices GROUP BY 1 -- refused date-unit
SELECT EXTRACT(CENTURY FROM bought), COUNT(*) FROM devices GROUP BY 1 -- refused date-part
SELECT COUNT(*) FROM devices WHERE YEAR(screen) = 2024 -- refused not-a-date
SELECT AVG(bought - opened) FROM devices JOIN customers USING (uid) -- refused date-difference
SELECT COUNT(*) FROM devices JOIN customers USING (uid) WHERE bought > opened -- refused column-comparison
SELECT MIN(opened), MAX(opened) FROM customers
SELECT MEDIAN(opened) AS half FROM customers WHERE plan = 'free' -- duckdb SELECT QUANTILE_DISC(opened, 0.5) AS half FROM customers WHERE plan = 'free'
SELECT MAX(returned) - MIN(returned) AS days FROM devices
SELECT MAX(bought) + 1 FROM devices -- refused quantile-formula
SELECT COUNT(p.uid) FROM customers c LEFT JOIN purchases p ON c.uid = p.uid
SELECT COUNT(c.uid) FROM customers c LEFT JOIN purchases p ON c.uid = p.uid -- refused outer-list
SELECT AVG(DATE_DIFF('week', bought, returned)) FROM devices -- refused date-unit
SELECT AVG(DATE_DIFF(bought, returned)) FROM devices -- refused arguments
SELECT AVG(DATE_DIFF('day', bought, returned, 1)) FROM devices -- refused arguments
SELECT AVG(DATE_DIFF(bought, 'day', returned)) FROM devices -- refused date-arithmetic
SELECT AVG(DATE_DIFF('day', bought, returned - bought)) FROM devices -- refused date-arithmetic
