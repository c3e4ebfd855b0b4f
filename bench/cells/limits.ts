/**
 * Limit of a cell: the loop that a programmer would write for exactly these rules and data. Generated from the rules,
 * so that it is not tuned by hand; the chain, whose sensors belong to the benchmark, is hand-written.
 */
import { builtins } from '../../plugins/index.ts'
import { limitsOf } from '../../src/bench/limit.ts'
import { Preparer } from '../../src/core/engine/prepare.ts'
import { createRegistry } from '../../src/core/plug/registry.ts'
import { generatorHere } from '../../src/platform/generate.ts'
import type { Clock } from '../events.ts'
import type { ChainWorkload, Workload } from '../workload.ts'
import { countPlug, type OddEvent, rulesOf } from './engine-cell.ts'
import { weightOf, type Firings } from '../../src/bench/firings.ts'
import type { Time } from './targets.ts'

type Handler = (event: OddEvent) => void

/** ms for which a property keeps a message value that later messages lack */
const VALIDITY_MS = 60_000

/** `loop`: one rule after the other; `sorted`: many rules of one resource by rising limit, with early exit */
export const LIMITS = ['loop', 'sorted'] as const
export type LimitName = (typeof LIMITS)[number]

export interface LimitParts {
  readonly events: readonly OddEvent[]
  readonly time: Time
  readonly clock: Clock
  readonly firings: Firings
}

/** Throws for an unknown name. */
export function limitOf(name: LimitName, workload: Workload, parts: LimitParts): Handler {
  if (workload.kind === 'chain') return chain(workload, parts)
  const { events, clock, firings, time } = parts
  const preparer = new Preparer(createRegistry([...builtins, countPlug({ answer: 'nothing', firings })]))
  const rules = rulesOf(workload)
  const tasks = rules.map(({ rule, resource }) => ({ resource, rule: preparer.prepare(rule, { resource }) }))
  const generate = generatorHere()
  if (generate === undefined) throw new Error('this process cannot generate code, which a limit needs')
  const limits = limitsOf(tasks, events, generate)
  if ('reason' in limits) throw new Error(`${workload.name} does not have a limit: ${limits.reason}`)
  const limit = limits.find((one) => one.name === name)
  if (limit === undefined) throw new Error(`"${name}" is not a limit of ${workload.name}`)
  const weights = Int32Array.from(rules, (_, i) => weightOf(i))
  const now = time === 'machine' ? Date.now : () => clock.now
  return limit.open({ act: (task) => firings.add(weights[task] as number), now })
}

/** One loop, without a function per sensor. */
function chain({ resource, steps, limit }: ChainWorkload, { events, clock, firings }: LimitParts): Handler {
  const factors = Float64Array.from(steps, ({ factor }) => factor)
  const offsets = Float64Array.from(steps, ({ offset }) => offset)
  const weight = weightOf(0)
  const run = (temperature: number): void => {
    let value = temperature
    for (let i = 0; i < factors.length; i++) value = value * (factors[i] as number) + (offsets[i] as number)
    if (value > limit) firings.add(weight)
  }
  const rules = new Map([[resource, run]])
  if (events.every(({ temperature }) => temperature !== undefined)) {
    return (event) => rules.get(event.resource)?.(event.temperature ?? Number.NaN)
  }
  let temperature = Number.NaN
  let until = 0
  return (event) => {
    const rule = rules.get(event.resource)
    if (rule === undefined) return
    const { now } = clock
    if (event.temperature !== undefined) {
      temperature = event.temperature ?? Number.NaN
      until = now + VALIDITY_MS
    } else if (until <= now) temperature = Number.NaN
    rule(temperature)
  }
}
