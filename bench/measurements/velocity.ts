/** Velocity templates beside velocityjs and Apache's own engine, each in its process; Java and Maven have to be there. */
import { digits, median, rate } from '../figures.ts'
import { measurement } from '../measurement.ts'
import {
  VELOCITY_SUBJECTS,
  VELOCITY_TEMPLATES,
  type VelocitySample,
  type VelocitySubject,
} from '../samples/velocity.ts'

const TITLES: Readonly<Record<VelocitySubject, string>> = {
  reflexarc: 'reflexarc',
  velocityjs: 'velocityjs 2.1.7',
  'apache-1.7': 'Apache Velocity 1.7',
  'apache-2.4': 'Apache Velocity 2.4.1',
}

const perSecond = ({ renders, cpuMs }: VelocitySample): number => (renders * 1_000) / cpuMs

export const velocity = measurement<'velocity'>({
  name: 'velocity',
  title: 'Velocity: templates that all print alike, parsed once and warm',
  lines: ({ measureMs }) =>
    Object.keys(VELOCITY_TEMPLATES).flatMap((template) =>
      VELOCITY_SUBJECTS.map((subject) => ({
        name: `${template} ${subject}`,
        title: `${template}: ${TITLES[subject]}`,
        request: { kind: 'velocity' as const, subject, template, measureMs },
        needsPeers: subject === 'velocityjs',
      })),
    ),
  cost: (sample) => 1e6 / perSecond(sample),
  costUnit: 'us/render',
  head: ['template', 'renders/s of CPU time', 'us/render', 'reflexarc is so many times as fast'],
  cells({ name, samples }, all) {
    const own = all.find((line) => line.name === `${name.split(' ')[0]} reflexarc`)?.samples.map(perSecond) ?? []
    const rates = median(samples.map(perSecond))
    return [rate(rates), digits(1e6 / rates), own.length === 0 ? '' : digits(median(own) / rates)]
  },
})
