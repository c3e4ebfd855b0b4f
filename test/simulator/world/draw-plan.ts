/** Draws what a run does from its seed: operations by their weights, and faults among them. */
import { SIMULATED } from '../services/index.ts'
import { Chance } from './chance.ts'
import type { Manners } from './medium.ts'
import type { Fault, Operation, Plan, Step } from './plan.ts'
import { TENANTS } from './world.ts'

const FEWEST = 10
const MOST = 80

/** `only`: services whose operations are drawn; default: all. */
export function drawPlan(seed: string, only?: readonly string[]): Plan {
  const chance = new Chance(`plan ${seed}`)
  // a run of a few services meets more of what they do together than one of all
  const drawn = SIMULATED.filter(({ name, onlyWhenDrawn }) =>
    only === undefined ? onlyWhenDrawn !== true || chance.is(0.3) : only.includes(name),
  )
  const operations = drawn.flatMap(({ name, operations }) =>
    Object.entries(operations).map(
      ([own, operation]) => [operation.weight, { name: `${name}.${own}`, operation }] as const,
    ),
  )
  // some runs are crowded, some have long pauses; some have few faults, some many
  const gap = chance.of([5, 50, 500, 5000])
  const faulty = chance.of([0, 0.03, 0.1, 0.25])
  const count = chance.between(FEWEST, MOST)
  const kinds = FAULTS.filter(() => chance.is(0.6))
  const steps: Step[] = []
  let at = 1000
  if (faulty > 0 && chance.is(0.8)) steps.push({ at, fault: 'manners', manners: manners(chance) })
  for (let n = 0; n < count; n++) {
    at += chance.is(0.3) ? 0 : chance.below(gap * 2)
    if (kinds.length > 0 && chance.is(faulty)) steps.push({ at, ...chance.of(kinds)(chance) })
    const { name, operation } = chance.weighted(operations)
    const one: Operation = { at, do: name, tenant: chance.of(TENANTS), with: operation.draw(chance, n) }
    steps.push(one)
  }
  return { seed, steps }
}

function manners(chance: Chance): Manners {
  return {
    writeMs: chance.of([0, 1, 20, 200, 1000]),
    readMs: chance.of([0, 1, 10, 100]),
    refused: chance.of([0, 0, 0.01, 0.1]),
  }
}

const FAULTS: readonly ((chance: Chance) => Fault)[] = [
  (chance) => ({
    fault: 'crash',
    turns: chance.of([0, chance.below(20), chance.below(200)]),
    downMs: chance.of([1, 100, 3000, 60_000]),
  }),
  (chance) => ({ fault: 'crash', turns: chance.below(60), downMs: chance.of([1, 100]) }),
  (chance) => ({ fault: 'restart', downMs: chance.of([1, 1000, 60_000]) }),
  // also longer than the time limit of a call
  (chance) => ({
    fault: 'trouble',
    kind: chance.of(['away', 'stuck']),
    ms: chance.of([10, 500, 3000, 20_000, 90_000]),
  }),
  (chance) => ({ fault: 'manners', manners: manners(chance) }),
  (chance) => ({ fault: 'clock', ms: chance.of([-3_600_000, -5000, -500, 500, 5000, 3_600_000]) }),
  (chance) => ({
    fault: 'plugs',
    fails: chance.of([0, 0.1, 0.5]),
    hangs: chance.of([0, 0, 0.1]),
    slowMs: chance.of([0, 10, 500, 3000]),
  }),
]
