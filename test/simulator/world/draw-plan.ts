/** Draws what a run does from its seed: operations by their weights, and faults among them. */
import { SIMULATED } from '../services/index.ts'
import { Chance } from './chance.ts'
import { SERVED, SERVED_WHERE_NEEDED } from './host-life.ts'
import type { Cast, Fault, Operation, Plan, Step } from './plan.ts'
import { TENANTS } from './world.ts'

/** operations of a run: shorter ones cost less, and find far less of what was put back (`--mutants`) */
const OPERATIONS = [10, 80] as const
const HOUR_MS = 3_600_000
/** what a power cut takes back of series: the log has all of it */
const LOST_MS = [10, 1000, 30_000, 100_000]
/** also longer than the time limit of a call */
const OUTAGES_MS = [10, 500, 3000, 20_000, 90_000]

/** `only`: services whose operations are drawn; default: some. */
export function drawPlan(seed: string, only?: readonly string[]): Plan {
  const chance = new Chance(`plan ${seed}`)
  const cast = drawCast(seed, chance, only)
  const operations = SIMULATED.flatMap(({ name, operations }) =>
    cast.services.includes(name)
      ? Object.entries(operations).map(([own, { weight, draw }]) => [weight, { name: `${name}.${own}`, draw }] as const)
      : [],
  )
  // some runs are crowded, some have long pauses; some have few faults, some many, and most have few kinds of them
  const gap = chance.of([5, 50, 500, 5000])
  const faulty = chance.of([0, 0.03, 0.1, 0.25])
  const count = chance.between(...OPERATIONS)
  const kinds = FAULTS.filter(() => chance.is(0.35))
  const steps: Step[] = []
  let at = 1000
  for (const fault of [manners, plugs]) if (faulty > 0 && chance.is(0.5)) steps.push({ at, ...fault(chance) })
  for (let n = 0; n < count; n++) {
    at += chance.is(0.3) ? 0 : chance.below(gap * 2)
    const { name, draw } = chance.weighted(operations)
    const one: Operation = { at, do: name, tenant: chance.of(cast.tenants), with: draw(chance, n) }
    steps.push(one)
    // just after an operation: most of what goes wrong does so in the middle of one
    if (kinds.length > 0 && chance.is(faulty)) {
      const turns = chance.of([0, chance.below(20), chance.below(60), chance.below(200)])
      steps.push({ at, ...chance.of(kinds)(chance), turns })
    }
  }
  return { seed, cast, steps }
}

const TOGETHER = SIMULATED.filter(({ drawnApart }) => drawnApart !== true)
const APART = SIMULATED.filter(({ drawnApart }) => drawnApart === true)

/** A few services of a tenant, or of both. */
function drawCast(seed: string, chance: Chance, only: readonly string[] | undefined): Cast {
  const some = <T>(list: readonly T[], probability: number): readonly T[] => {
    const drawn = list.filter(() => chance.is(probability))
    return drawn.length > 0 || list.length === 0 ? drawn : [chance.of(list)]
  }
  const tenants = chance.is(0.6) ? [chance.of(TENANTS)] : TENANTS
  const drawn = TOGETHER.filter(({ cast = 0.35 }) => chance.is(cast))
  const apart = APART.filter(({ name, cast = 0.35 }) => new Chance(`cast ${name} ${seed}`).is(cast))
  const chosen = [...(drawn.length > 0 ? drawn : [chance.of(TOGETHER)]), ...apart]
  const services = only ?? [...new Set(chosen.flatMap(({ name, livesOn = [] }) => [name, ...livesOn]))]
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

function manners(chance: Chance): Fault {
  const own = {
    writeMs: chance.of([0, 1, 20, 200, 1000]),
    readMs: chance.of([0, 1, 10, 100]),
    refused: chance.of([0, 0, 0.01, 0.1]),
    unread: chance.of([0, 0, 0.01, 0.1]),
  }
  return { fault: 'manners', manners: own }
}

function plugs(chance: Chance): Fault {
  return {
    fault: 'plugs',
    fails: chance.of([0, 0.1, 0.5]),
    hangs: chance.of([0, 0.1, 0.3]),
    slowMs: chance.of([0, 10, 500, 3000, 15_000]),
    late: chance.of([0, 0.5, 1]),
  }
}

const FAULTS: readonly ((chance: Chance) => Fault)[] = [
  (chance) => ({ fault: 'crash', downMs: chance.of([1, 100, 3000, 60_000]) }),
  (chance) => ({ fault: 'crash', downMs: chance.of([1, 100]) }),
  (chance) => ({ fault: 'power', seriesMs: chance.of(LOST_MS), downMs: chance.of([1, 100, 3000]) }),
  (chance) => ({ fault: 'restart', downMs: chance.of([1, 1000, 60_000]) }),
  (chance) => ({ fault: 'trouble', kind: 'away', ms: chance.of(OUTAGES_MS) }),
  (chance) => ({ fault: 'trouble', kind: 'stuck', ms: chance.of(OUTAGES_MS) }),
  (chance) => ({ fault: 'trouble', kind: 'full', ms: chance.of(OUTAGES_MS) }),
  manners,
  (chance) => ({ fault: 'clock', ms: chance.of([500, 5000, HOUR_MS, HOUR_MS]) }),
  (chance) => ({ fault: 'clock', ms: chance.of([-500, -5000, -HOUR_MS, -HOUR_MS]) }),
  plugs,
]
