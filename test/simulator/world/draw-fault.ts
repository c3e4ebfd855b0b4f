/** Draws faults. */
import type { Chance } from './chance.ts'
import type { Fault } from './plan.ts'

const HOUR_MS = 3_600_000
/** ms of series writes that a power cut undoes; the log contains all of them */
const LOST_MS = [10, 1000, 30_000, 100_000]
/** includes some longer than a call's time limit */
const OUTAGES_MS = [10, 500, 3000, 20_000, 90_000]

export type FaultKind = (chance: Chance) => Fault

export function drawFault(chance: Chance, kinds: readonly (readonly [weight: number, FaultKind])[]): Fault {
  return chance.weighted(kinds)(chance)
}

export function manners(chance: Chance): Fault {
  const own = {
    writeMs: chance.of([0, 1, 20, 200, 1000]),
    readMs: chance.of([0, 1, 10, 100]),
    refused: chance.of([0, 0, 0.01, 0.1]),
    unread: chance.of([0, 0, 0.01, 0.1]),
  }
  return { fault: 'manners', manners: own }
}

export function plugs(chance: Chance): Fault {
  return {
    fault: 'plugs',
    fails: chance.of([0, 0.1, 0.5]),
    hangs: chance.of([0, 0.1, 0.3]),
    slowMs: chance.of([0, 10, 500, 3000, 15_000]),
    late: chance.of([0, 0.5, 1]),
  }
}

export const FAULT_KINDS: readonly FaultKind[] = [
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

/** Draws plugs whose calls hang, or fail after a while. */
export function badPlugs(chance: Chance): Fault {
  const hangs = chance.of([0.3, 0.6, 0.9])
  return { fault: 'plugs', fails: chance.of([0, 1 - hangs]), hangs, slowMs: chance.of([500, 3000, 15_000]), late: 0 }
}

/** Faults that affect open calls. */
export const CALL_FAULTS: readonly FaultKind[] = [
  (chance) => ({ fault: 'crash', downMs: chance.of([1, 100, 3000]) }),
  (chance) => ({ fault: 'clock', ms: chance.of([5000, HOUR_MS, HOUR_MS]) }),
  (chance) => ({ fault: 'clock', ms: chance.of([-5000, -HOUR_MS]) }),
  (chance) => ({ fault: 'trouble', kind: 'stuck', ms: chance.of([3000, 20_000, 40_000, 90_000]) }),
  (chance) => ({ fault: 'trouble', kind: 'away', ms: chance.of([3000, 20_000, 90_000]) }),
  badPlugs,
]
