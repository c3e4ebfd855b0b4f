/** Expressions that both this library and its peers can read. */

/** A whole number from 0 up to, not including, the bound. */
export type Random = (below: number) => number

const WEEKDAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']
const SHORT = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA']

/** Six fields. Weekdays by name, because their numbers differ from dialect to dialect. */
export function randomCron(random: Random): string {
  const hour = pick(random, ['*', '*/2', '0-5', '1,2,3', '2', '3', String(random(24)), '22-23'])
  const minute = pick(random, ['0', '30', '*/15', '5-59/20', String(random(60))])
  const second = pick(random, ['0', '0', '30', '15,45'])
  const month = pick(random, ['*', '*', '3,10', '1-6', String(1 + random(12))])
  const [date, weekday] = pick(random, [
    ['*', '*'],
    [String(1 + random(31)), '*'],
    ['L', '*'],
    [`${1 + random(28)}-${29 + random(3)}`, '*'],
    ['*', pickDay(random, WEEKDAYS)],
    ['*', 'MON-FRI'],
    ['*', `${pickDay(random, WEEKDAYS)}#${1 + random(4)}`],
  ] as const)
  // A day that no month has is refused; that is another question.
  const safeMonth = date === '30' || date === '31' || date === '29' ? '*' : month
  return `${second} ${minute} ${hour} ${date} ${safeMonth} ${weekday}`
}

export function randomRule(random: Random): string {
  const parts = pick(random, [
    ['FREQ=MINUTELY', `INTERVAL=${1 + random(90)}`],
    ['FREQ=HOURLY', `INTERVAL=${1 + random(30)}`, `BYMINUTE=${random(60)}`],
    ['FREQ=DAILY', `INTERVAL=${1 + random(4)}`, `BYHOUR=${random(5)}`, `BYMINUTE=${random(60)}`],
    ['FREQ=DAILY', `BYHOUR=1,2,3`, 'BYMINUTE=0,30'],
    [
      'FREQ=WEEKLY',
      `INTERVAL=${1 + random(3)}`,
      `BYDAY=${pickDay(random, SHORT)},${pickDay(random, SHORT)}`,
      'BYHOUR=2',
    ],
    ['FREQ=WEEKLY', 'WKST=SU', 'INTERVAL=2', 'BYDAY=SU,MO', 'BYHOUR=2', 'BYMINUTE=30'],
    ['FREQ=MONTHLY', `BYMONTHDAY=${pick(random, ['1', '-1', '15,-1', '31'])}`, 'BYHOUR=2'],
    ['FREQ=MONTHLY', `BYDAY=${1 + random(4)}${pickDay(random, SHORT)}`, 'BYHOUR=0,2'],
    ['FREQ=MONTHLY', `BYDAY=-1${pickDay(random, SHORT)}`, 'BYHOUR=2', 'BYMINUTE=30'],
    ['FREQ=MONTHLY', 'BYDAY=MO,TU,WE,TH,FR', `BYSETPOS=${pick(random, ['1', '-1', '3'])}`],
    ['FREQ=YEARLY', 'BYMONTH=3,10', 'BYDAY=-1SU', 'BYHOUR=2', 'BYMINUTE=30'],
    ['FREQ=YEARLY', `BYYEARDAY=${1 + random(365)}`, 'BYHOUR=2'],
    ['FREQ=YEARLY', `BYWEEKNO=${1 + random(52)}`, 'BYDAY=SU', 'BYHOUR=2'],
  ] as const)
  return [...new Set(parts)].join(';')
}

function pick<T>(random: Random, values: readonly T[]): T {
  return values[random(values.length)] as T // the place is below the length
}

function pickDay(random: Random, days: readonly string[]): string {
  return pick(random, days)
}
