/** What the next occurrence costs in Europe/Brussels: five cron expressions, five rules, this library and its peers. */
import { digits, median } from '../figures.ts'
import { measurement, type LinePlan } from '../measurement.ts'

export const CRONS = ['0 */15 * * * *', '0 30 2 * * *', '0 0 9 * * MON-FRI', '0 0 0 1 * *', '0 0 12 L * *']
export const RULES = [
  'FREQ=MINUTELY;INTERVAL=15',
  'FREQ=DAILY;BYHOUR=2;BYMINUTE=30;BYSECOND=0',
  'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9;BYMINUTE=0;BYSECOND=0',
  'FREQ=MONTHLY;BYMONTHDAY=-1;BYHOUR=12;BYMINUTE=0;BYSECOND=0',
  'FREQ=MONTHLY;BYDAY=2TU;BYHOUR=0;BYMINUTE=0;BYSECOND=0',
]
const KINDS = [
  { expressions: CRONS, own: 'cron', others: ['cron-parser', 'croner'] },
  { expressions: RULES, own: 'rrule', others: ['rrule 2.8.1', 'rrule-temporal'] },
]
const BY_NPM = new Set(['croner', 'rrule-temporal'])

export const schedules = measurement<'schedules'>({
  name: 'schedules',
  title: 'Schedules: the next 1,000 occurrences in Europe/Brussels',
  lines: () =>
    KINDS.flatMap(({ expressions, own, others }) =>
      expressions.flatMap((expression) =>
        [own, ...others].map((subject): LinePlan<'schedules'> => {
          return {
            name: `${subject} ${expression}`,
            title: `${expression.replace(/;BYMINUTE=.*/, '')}: ${subject === own ? 'reflexarc' : subject}`,
            request: { kind: 'schedules', subject, expression },
            needsPeers: BY_NPM.has(subject),
            maxRounds: 3,
          }
        }),
      ),
    ),
  cost: ({ microsPerOccurrence }) => microsPerOccurrence,
  costUnit: 'us/occurrence',
  head: ['expression', 'us/occurrence', 'min', 'max'],
  cells({ samples }) {
    const costs = samples.map(({ microsPerOccurrence }) => microsPerOccurrence)
    return [digits(median(costs)), digits(Math.min(...costs)), digits(Math.max(...costs))]
  },
})
