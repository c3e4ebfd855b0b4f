/** What a fire costs without the machine's wake-ups: the whole engine on a clock that is moved by hand. */
import { createEngine, definePlug, VirtualClock, type Rule } from '../../src/index.ts'
import { cpuMs } from './spent.ts'

const PERIOD_MS = 31_250
const MEASURED_PERIODS = 6

/** CPU for the start of all tasks (ms) and for one tick (microseconds). */
export async function virtualTicks(tasks: number): Promise<{ addMs: number; microsPerFire: number }> {
  let fires = 0
  const beat = definePlug({
    name: 'beat',
    version: '1.0.0',
    kind: 'sensor',
    states: ['Beat'],
    execute() {
      fires++
      return { state: 'Beat' }
    },
  })
  const clock = new VirtualClock(0)
  const engine = createEngine({ plugs: [beat], scheduler: clock, why: false, seed: 1 })
  const rule: Rule = { sensors: [{ label: 'heart', name: 'beat' }], actuators: [], triggers: [] }
  const addStart = cpuMs()
  for (let i = 0; i < tasks; i++) {
    clock.advanceTo(Math.floor((i / tasks) * PERIOD_MS))
    await engine.start(rule, { type: 'periodic', frequency: PERIOD_MS })
  }
  const addMs = cpuMs() - addStart
  clock.advanceTo(2 * PERIOD_MS)
  fires = 0
  const start = cpuMs()
  clock.advanceTo((2 + MEASURED_PERIODS) * PERIOD_MS)
  const microsPerFire = ((cpuMs() - start) * 1000) / fires
  await engine.close()
  return { addMs, microsPerFire }
}
