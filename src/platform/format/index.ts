// Money, numbers and times as pages and emails show them.
export { exactParts, exactUsd, type MoneyParts, price, usd } from './money.js';
export { compact, count, percent, times, UNKNOWN } from './numbers.js';
export { ago, calendarDate, clockTime, dateTime, type Precision, shortDay, zoneName } from './time.js';
