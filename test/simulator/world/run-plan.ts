/** Executes a plan, and returns the findings. */
import { createHash } from 'node:crypto'
import { SIMULATED } from '../services/index.ts'
import type { Shared } from '../services/simulated-service.ts'
import { network } from './network.ts'
import { isOperation, type Cast, type Plan, type Step } from './plan.ts'
import type { VirtualLoop } from './virtual-loop.ts'
import { TENANTS, World, type Finding } from './world.ts'

export interface RunResult {
  readonly findings: readonly Finding[]
  readonly history: readonly string[]
  /** digest of the history; equal for equal runs */
  readonly digest: string
  readonly world: World
}

export async function runPlan(loop: VirtualLoop, { seed, steps, cast = castOf(steps) }: Plan): Promise<RunResult> {
  loop.begin(seed)
  const world = new World(loop, seed, cast, routesAskedBy(cast))
  const shared: Shared = { messages: [], objects: [], services: cast.services }
  const models = new Map(
    SIMULATED.filter(({ name }) => cast.services.includes(name)).map((service) => {
      const { name, variants = [] } = service
      return [name, service.model(world, shared, cast.variants[name] ?? variants)]
    }),
  )
  try {
    await world.begin()
    for (const model of models.values()) {
      for (const tenant of cast.tenants) await world.inCalm(async () => model.prepare?.(tenant))
    }
    const beginning = world.now
    for (const step of steps) {
      await world.until(beginning + step.at)
      if (!isOperation(step)) await world.apply(step, step.turns)
      else {
        const [service = '', operation = ''] = step.do.split('.')
        models.get(service)?.act(operation, step.tenant, step.with)
      }
    }
    await world.settle()
    for (const model of models.values()) {
      for (const tenant of cast.tenants) await world.inCalm(() => model.verify(tenant))
    }
    await world.end()
  } catch (error) {
    world.find('simulator', (error as Error).stack ?? String(error))
  }
  const findings = [...world.findings]
  const history = [...world.history]
  // later actions of dead machines do not belong to the run
  network.end()
  await loop.run(() => true)
  const digest = createHash('sha256').update(history.join('\n')).digest('hex').slice(0, 16)
  return { findings, history, digest, world }
}

/** Returns undefined when one of the services does not list its routes. */
function routesAskedBy({ services }: Cast): ReadonlySet<string> | undefined {
  const present = SIMULATED.filter(({ name }) => services.includes(name))
  if (present.some(({ asks }) => asks === undefined)) return undefined
  return new Set(present.flatMap(({ asks = [] }) => asks))
}

/** Returns the cast of an older plan that was saved without one. */
function castOf(steps: readonly Step[]): Cast {
  const drawn = new Set(steps.flatMap((step) => (isOperation(step) ? [step.do.split('.')[0]] : [])))
  const present = SIMULATED.filter(({ name, onlyWhenDrawn }) => onlyWhenDrawn !== true || drawn.has(name))
  return { tenants: TENANTS, services: present.map(({ name }) => name), variants: {} }
}
