/** Does what a plan says, and tells what was found. */
import { createHash } from 'node:crypto'
import { SIMULATED } from '../services/index.ts'
import type { Shared } from '../services/simulated-service.ts'
import { isOperation, type Plan } from './plan.ts'
import type { VirtualLoop } from './virtual-loop.ts'
import { TENANTS, World, type Finding } from './world.ts'

export interface RunResult {
  readonly findings: readonly Finding[]
  readonly history: readonly string[]
  /** of the history: equal for equal runs */
  readonly digest: string
  readonly world: World
}

export async function runPlan(loop: VirtualLoop, { seed, steps }: Plan): Promise<RunResult> {
  loop.begin(seed)
  const world = new World(loop, seed)
  const shared: Shared = { messages: [] }
  const drawn = new Set(steps.flatMap((step) => (isOperation(step) ? [step.do.split('.')[0]] : [])))
  const present = SIMULATED.filter(({ name, onlyWhenDrawn }) => onlyWhenDrawn !== true || drawn.has(name))
  const models = new Map(present.map((service) => [service.name, service.model(world, shared)]))
  try {
    await world.begin()
    for (const model of models.values()) {
      for (const tenant of TENANTS) await world.inCalm(async () => model.prepare?.(tenant))
    }
    const beginning = world.now
    for (const step of steps) {
      await world.until(beginning + step.at)
      if (!isOperation(step)) await world.apply(step)
      else {
        const [service = '', operation = ''] = step.do.split('.')
        models.get(service)?.act(operation, step.tenant, step.with)
      }
    }
    await world.settle()
    for (const model of models.values()) for (const tenant of TENANTS) await world.inCalm(() => model.verify(tenant))
    await world.end()
  } catch (error) {
    world.find('simulator', (error as Error).stack ?? String(error))
  }
  const { findings, history } = world
  const digest = createHash('sha256').update(history.join('\n')).digest('hex').slice(0, 16)
  return { findings, history, digest, world }
}
