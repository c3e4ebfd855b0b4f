/** What one task makes of a sensor that takes a millisecond: the sensor's own latency allows so much and no more. */
import { digits, median, percent, rate } from '../figures.ts'
import { measurement, type Line, type LinePlan } from '../measurement.ts'
import { MESSAGES, type SlowSensorRequest, type SlowSensorSample } from '../samples/slow-sensor/subject.ts'

type Place = SlowSensorRequest['place']

const PLACES: Readonly<Record<Place, string>> = { library: 'the library', host: 'a host on SQLite' }
const AHEAD = '-ahead'

const medianRate = ({ samples }: Line<SlowSensorSample>): number => median(samples.map(({ perSecond }) => perSecond))

export const slowSensor = measurement<'slowSensor'>({
  name: 'w6',
  title: `W6: one task, ${digits(MESSAGES)} messages, a sensor that answers after 1 ms; by the clock`,
  lines: () =>
    (Object.keys(PLACES) as Place[]).flatMap((place) =>
      [false, true].map((isAhead): LinePlan<'slowSensor'> => {
        return {
          name: isAhead ? place + AHEAD : place,
          title: isAhead ? `${PLACES[place]}, calls may begin ahead` : PLACES[place],
          request: { kind: 'slowSensor', place, isAhead },
          maxRounds: 3,
        }
      }),
    ),
  cost: ({ perSecond }) => 1e6 / perSecond,
  costUnit: 'us/message',
  head: [
    'task',
    'messages/s',
    'min',
    'max',
    'the sensor alone',
    'share of it',
    'x without ahead',
    'lost',
    'waiting at the last post',
    'us of CPU each',
    'no core',
  ],
  cells(line, all) {
    const { samples } = line
    const of = (key: keyof SlowSensorSample): number => median(samples.map((sample) => sample[key]))
    const rates = samples.map(({ perSecond }) => perSecond)
    const plain = all.find(({ name, failure }) => name + AHEAD === line.name && failure === undefined)
    return [
      rate(median(rates)),
      rate(Math.min(...rates)),
      rate(Math.max(...rates)),
      rate(of('limit')),
      percent(median(samples.map(({ perSecond, limit }) => perSecond / limit)), 1),
      plain === undefined ? '-' : digits(median(rates) / medianRate(plain)),
      digits(Math.max(...samples.map(({ lost }) => lost))),
      `${digits(of('waiting'))}, for ${digits(of('waitedMs'))} ms`,
      digits((of('cpuMs') * 1_000) / MESSAGES),
      percent(of('noCore'), 1),
    ]
  },
})
