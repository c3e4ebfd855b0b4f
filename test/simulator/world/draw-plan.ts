/**
 * Draws the plan of a run from its seed: weighted operations with faults among them. Each run has its own character:
 * what is rare in most runs is common in some, so that rare things coincide there.
 */
import { SIMULATED } from '../services/index.ts'
import type { SimulatedService } from '../services/simulated-service.ts'
import { Chance } from './chance.ts'
import { badPlugs, CALL_FAULTS, drawFault, type FaultKind, FAULT_KINDS, manners, plugs } from './draw-fault.ts'
import { drawAbout, subjectOf } from './draw-subject.ts'
import { SERVED, SERVED_WHERE_NEEDED } from './host-life.ts'
import type { Cast, Operation, Plan, Step } from './plan.ts'
import { TENANTS } from './world.ts'

/** operations per run: fewer would cost less, but find far fewer mutants (`--mutants`) */
const OPERATIONS = [10, 80] as const
/** mean ms between two operations: for crowded runs, and for runs with long pauses */
const GAPS_MS = [5, 50, 500, 5000]
/** the same for runs with varying pauses, about as long as calls, outages and the host's polling intervals */
const LONG_GAPS_MS = [10, 300, 3000, 8000, 15_000, 30_000]
/** ms from a fault to another one that follows it */
const FOLLOWS_MS = [0, 5, 300, 3000, 12_000, 25_000]
/** factors by which an operation is more or less frequent in a run than its weight */
const FACTORS = [0, 0.3, 1, 1, 3, 10]

const TOGETHER = SIMULATED.filter(({ drawnApart }) => drawnApart !== true)
const APART = SIMULATED.filter(({ drawnApart }) => drawnApart === true)

/**
 * Probability that a run is only about open calls. Their fate depends on the order of events within the seconds of
 * their limits, and most events in other runs do not affect them.
 */
const ABOUT_CALLS = 0.15
const CALLS_GAPS_MS = [10, 300, 1000, 3000, 8000]

/**
 * Probability that one of the other runs is about one service and one or two kinds of faults. Many problems need an
 * operation and a fault at the same moment, which is unlikely where everything may happen.
 */
const ABOUT_ONE = 0.35
const ONE_KINDS = [1, 1, 2]

/** Properties that hold for a whole run. */
interface Character {
  /** mean ms between operations; one value is drawn for each operation */
  readonly gapsMs: readonly number[]
  readonly operations: number
  /** probabilities that a fault accompanies an operation, and that another fault follows */
  readonly faulty: number
  readonly followed: number
  /** weighted kinds of faults */
  readonly kinds: readonly (readonly [weight: number, FaultKind])[]
}

/**
 * `only`: services whose operations are drawn; default: some. `about`: the run's subject; default: some runs have one.
 */
export function drawPlan(seed: string, only?: readonly string[], about?: string): Plan {
  const subject = only === undefined ? subjectOf(seed, about) : undefined
  if (subject !== undefined) return drawAbout(seed, subject)
  const chance = new Chance(`plan ${seed}`)
  const isAboutCalls = only === undefined && new Chance(`about ${seed}`).is(ABOUT_CALLS)
  const isAboutOne = !isAboutCalls && only === undefined && new Chance(`one ${seed}`).is(ABOUT_ONE)
  const among = isAboutOne ? withThoseTheyLiveOn([chance.of(SIMULATED)]) : only
  const cast = isAboutCalls ? castOfCalls(chance) : drawCast(seed, chance, among)
  const operations = drawOperations(chance, cast)
  const character = isAboutCalls ? characterOfCalls(chance) : drawCharacter(chance, isAboutOne)
  const { gapsMs, operations: count, faulty, followed, kinds } = character
  const steps: Step[] = []
  let at = 1000
  if (isAboutCalls) steps.push({ at, ...badPlugs(chance) })
  for (const fault of [manners, plugs])
    if (faulty > 0 && chance.is(isAboutCalls ? 0.1 : 0.5)) steps.push({ at, ...fault(chance) })
  for (let n = 0; n < count; n++) {
    at += chance.is(0.3) ? 0 : chance.below(chance.of(gapsMs) * 2)
    const { name, draw } = chance.weighted(operations)
    const operation: Operation = { at, do: name, tenant: chance.of(cast.tenants), with: draw(chance, n) }
    steps.push(operation)
    // soon after an operation begins, because most problems occur in the middle of one
    if (kinds.length === 0 || !chance.is(faulty)) continue
    const turns = chance.of([0, chance.below(20), chance.below(60), chance.below(200)])
    steps.push({ at, ...drawFault(chance, kinds), turns })
    while (chance.is(followed)) {
      at += chance.of(FOLLOWS_MS)
      steps.push({ at, ...drawFault(chance, kinds), turns: chance.below(20) })
    }
  }
  return { seed, cast, steps }
}

/** `isAboutOne`: whether the run is about one service and few kinds of faults. */
function drawCharacter(chance: Chance, isAboutOne: boolean): Character {
  const isLong = chance.is(0.25)
  return {
    gapsMs: isLong ? LONG_GAPS_MS : [chance.of(GAPS_MS)],
    operations: isLong ? chance.between(5, 40) : chance.between(...OPERATIONS),
    // some runs have few faults and some many; most have few kinds of them
    faulty: chance.of(isLong ? [0.1, 0.25, 0.5] : [0, 0.03, 0.1, 0.25]),
    followed: chance.of([0, 0, 0.3, 0.6]),
    kinds: isAboutOne
      ? Array.from({ length: chance.of(ONE_KINDS) }, () => [1, chance.of(FAULT_KINDS)] as const)
      : FAULT_KINDS.flatMap((kind) => (chance.is(0.35) ? [[chance.of([1, 1, 4]), kind] as const] : [])),
  }
}

/** Draws at least two resources whose tasks have open calls: one task must not end the calls of the other. */
function castOfCalls(chance: Chance): Cast {
  const services = ['messages', 'tasks', ...(chance.is(0.3) ? ['schedules'] : [])]
  const others = ['count pump', 'count boiler', 'metadata pump'].filter(() => chance.is(0.3))
  const needed = SIMULATED.flatMap(({ name, needs = SERVED }) => (services.includes(name) ? needs : []))
  return {
    tenants: [chance.of(TENANTS)],
    services,
    variants: { tasks: ['note pump', 'note boiler', ...others] },
    serves: SERVED.filter((name) => needed.includes(name)),
  }
}

function characterOfCalls(chance: Chance): Character {
  return {
    gapsMs: CALLS_GAPS_MS,
    operations: chance.between(5, 25),
    faulty: chance.of([0.25, 0.5]),
    followed: chance.of([0, 0.3]),
    kinds: CALL_FAULTS.map((kind) => [chance.of([0, 1, 1, 4]), kind]),
  }
}

/** Draws how frequent each operation of the run's services is. */
function drawOperations(chance: Chance, { services }: Cast) {
  const all = SIMULATED.filter(({ name }) => services.includes(name)).flatMap(({ name, operations }) =>
    Object.entries(operations).map(([own, { weight, draw }]) => [weight, { name: `${name}.${own}`, draw }] as const),
  )
  const some = all.map(([weight, one]) => [weight * chance.of(FACTORS), one] as const)
  return some.every(([weight]) => weight === 0) ? all : some
}

/** Draws a few services of one tenant, or of both. */
function drawCast(seed: string, chance: Chance, only: readonly string[] | undefined): Cast {
  const some = <T>(list: readonly T[], probability: number): readonly T[] => {
    const drawn = list.filter(() => chance.is(probability))
    return drawn.length > 0 || list.length === 0 ? drawn : [chance.of(list)]
  }
  const tenants = chance.is(0.6) ? [chance.of(TENANTS)] : TENANTS
  const drawn = TOGETHER.filter(({ cast = 0.35 }) => chance.is(cast))
  const apart = APART.filter(({ name, cast = 0.35 }) => new Chance(`cast ${name} ${seed}`).is(cast))
  const chosen = [...(drawn.length > 0 ? drawn : [chance.of(TOGETHER)]), ...apart]
  const services = only ?? withThoseTheyLiveOn(chosen)
  const variants = Object.fromEntries(
    SIMULATED.flatMap(({ name, variants }) =>
      variants === undefined || !services.includes(name) ? [] : [[name, some(variants, 0.5)] as const],
    ),
  )
  const needed = SIMULATED.flatMap(({ name, needs = SERVED }) => (services.includes(name) ? needs : []))
  const besides = SERVED_WHERE_NEEDED.filter((name) => needed.includes(name))
  const serves = chance.is(0.9) ? SERVED.filter((name) => needed.includes(name)) : SERVED
  return { tenants, services, variants, serves: [...serves, ...besides] }
}

/** Adds the services without which those named are useless. */
function withThoseTheyLiveOn(services: readonly SimulatedService[]): readonly string[] {
  return [...new Set(services.flatMap(({ name, livesOn = [] }) => [name, ...livesOn]))]
}
