/** Messages per second of virtual time, and what that takes in memory. */
import { median, megabytes, rate } from '../figures.ts'
import { measurement, type Line, type Row } from '../measurement.ts'

interface Played {
  messages: number
  cpuMs: number
  wallMs: number
  peakRss: number
}

const HEAD = ['recording', 'messages/s and core', 'min', 'max', 'messages/s by the clock', 'peak RSS']
const cost = ({ messages, cpuMs }: Played) => (cpuMs * 1e6) / messages

export const simulations = measurement<'simulate'>({
  name: 'simulate',
  title: 'Simulation: one resource, five nodes with gate and cool-down',
  lines: () =>
    [100_000, 1_000_000].map((messages) => {
      const title = `${messages.toLocaleString('en')} messages`
      return { name: String(messages), title, request: { kind: 'simulate', messages } }
    }),
  cost,
  costUnit: 'ns/message',
  head: HEAD,
  cells,
})

export const month = measurement<'month'>({
  name: 'month',
  title: 'A month of 1-minute data of 100 resources, 4,464,000 messages: five nodes with gate and cool-down',
  lines: () => [
    {
      name: 'simulate',
      title: 'simulate, a run per resource',
      request: { kind: 'month', way: 'simulate' },
      maxRounds: 3,
    },
    {
      name: 'engine',
      title: 'one engine on a virtual clock, 100 tasks',
      request: { kind: 'month', way: 'engine' },
      maxRounds: 3,
    },
  ],
  cost,
  costUnit: 'ns/message',
  head: HEAD,
  cells,
})

function cells({ samples }: Line<Played>): Row {
  const byCpu = samples.map(({ messages, cpuMs }) => (messages / cpuMs) * 1000)
  const byClock = samples.map(({ messages, wallMs }) => (messages / wallMs) * 1000)
  return [
    rate(median(byCpu)),
    rate(Math.min(...byCpu)),
    rate(Math.max(...byCpu)),
    rate(median(byClock)),
    megabytes(median(samples.map(({ peakRss }) => peakRss))),
  ]
}
