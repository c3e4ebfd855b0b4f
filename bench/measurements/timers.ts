/** A hundred thousand periodic timers: what they cost near idle and at 3,200 fires a second, and how late they are. */
import { digits, median } from '../figures.ts'
import { measurement, type LinePlan } from '../measurement.ts'
import type { TimersLoad } from '../samples/timers.ts'

const TASKS = 100_000
const SUBJECTS = [
  { name: 'wakes', title: 'as many wake-ups for nothing' },
  { name: 'intervals', title: 'setInterval each' },
  { name: 'heap', title: 'one plain heap by hand' },
  { name: 'wheel', title: 'hashed wheel by hand, 10 ms' },
  { name: 'queue', title: 'the timers of the engine alone' },
  { name: 'engine', title: 'the whole engine, a tick each' },
]
const VIRTUAL = { name: 'virtual', title: 'the whole engine in virtual time' }
const LOADS: readonly { load: TimersLoad; title: string }[] = [
  { load: 'idle', title: 'near idle' },
  { load: 'busy', title: 'busy' },
]

export const timers = measurement<'timers'>({
  name: 'timers',
  title: 'Timers: 100,000 periodic tasks at mixed periods, on the clock of the machine',
  lines: () =>
    LOADS.flatMap(({ load, title }) =>
      (load === 'busy' ? [...SUBJECTS, VIRTUAL] : SUBJECTS).map((subject): LinePlan<'timers'> => {
        return {
          name: `${subject.name}-${load}`,
          title: `${subject.title}, ${title}`,
          request: { kind: 'timers', subject: subject.name, load, tasks: TASKS },
          maxRounds: 2,
        }
      }),
    ),
  cost: ({ cpuShare }) => cpuShare * 100,
  costUnit: '% of a core',
  head: ['timers', 'fires/s', 'CPU', 'us per fire', 'bytes per task', 'CPU to add all', 'late p50', 'late p99'],
  cells({ samples }) {
    // What a line does not measure is NaN.
    const cell = (of: (sample: (typeof samples)[number]) => number, unit = ''): string => {
      const middle = median(samples.map(of))
      return Number.isNaN(middle) ? '-' : `${digits(middle)}${unit}`
    }
    return [
      cell(({ firesPerSecond }) => firesPerSecond),
      cell(({ cpuShare }) => cpuShare * 100, ' %'),
      cell(({ cpuShare, firesPerSecond }) => (cpuShare * 1e6) / firesPerSecond),
      cell(({ bytesPerTask }) => bytesPerTask, ' B'),
      cell(({ addMs }) => addMs, ' ms'),
      cell(({ latenessP50 }) => latenessP50, ' ms'),
      cell(({ latenessP99 }) => latenessP99, ' ms'),
    ]
  },
})
