/**
 * Measurements of six boilers and four cold rooms as a function of time and seed: daily shape, drift, noise and faults.
 * Equal arguments return equal values, so that history and live data join without a step.
 */
import { randomOf, seedOf } from '#kernel'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

export interface Plant {
  readonly seed: number
  /** epoch ms; the pump of the first incident stops a few seconds later */
  readonly began: number
}

export type Reading = Readonly<Record<string, number | boolean>>

interface Machine {
  readonly id: string
  readonly name: string
  readonly type: 'demo-boiler' | 'demo-cold-room'
}

function machines(type: Machine['type'], id: string, name: string, count: number): readonly Machine[] {
  return Array.from({ length: count }, (_, i) => ({ id: `${id}-${i + 1}`, name: `${name} ${i + 1}`, type }))
}

export const MACHINES: readonly Machine[] = [
  ...machines('demo-boiler', 'demo-boiler', 'Boiler', 6),
  ...machines('demo-cold-room', 'demo-cold', 'Cold room', 4),
]

/** The machine whose pump stops soon after the plant was created, and then every twenty minutes. */
export const INCIDENT = 'demo-boiler-3'
const INCIDENT_AFTER = 5 * SECOND
const INCIDENT_EVERY = 20 * MINUTE
const INCIDENT_LASTS = 3 * MINUTE

/** Each machine has at most one fault per window. */
const FAULT_WINDOW = 6 * HOUR
const FAULT_SHARE = 0.4
const FAULTS = {
  'demo-boiler': ['pump', 'leak', 'silent'],
  'demo-cold-room': ['door', 'compressor', 'silent'],
} as const
type Fault = (typeof FAULTS)[Machine['type']][number]

/** Returns the message of a machine at a time; undefined while it is silent. */
export function readingAt({ seed, began }: Plant, machine: Machine, time: number): Reading | undefined {
  const chance = (what: string, n = 0): number => randomOf(seedOf(`${seed} ${machine.id} ${what} ${n}`))
  const fault = faultAt(chance, machine, time)
  const level = (kind: Fault, rise: number): number => (fault?.kind === kind ? levelOf(fault, rise) : 0)
  if (fault?.kind === 'silent' && fault.isOn) return undefined
  const shape = {
    /** -1 in the night to 1 in the afternoon */
    day: Math.sin(((time % DAY) / DAY - 0.375) * 2 * Math.PI),
    drift: (time / (3 * DAY) + chance('phase')) % 1,
    wave: smooth(chance, time / (10 * MINUTE)),
    noise: chance('noise', time) - 0.5,
  }
  const isOn = (kind: Fault): boolean => fault?.kind === kind && fault.isOn
  if (machine.type === 'demo-cold-room') {
    const warming = 7 * level('door', 300 * SECOND) + 9 * level('compressor', 500 * SECOND)
    return {
      temperature: rounded(
        2 + 2 * chance('base') + shape.day + shape.drift + shape.wave + 0.2 * shape.noise + warming,
        1,
      ),
      door: isOn('door') || chance('door', Math.floor(time / (2 * MINUTE))) < 0.03,
      power: isOn('compressor') ? 0.1 : rounded(2.2 + 0.4 * shape.day + 0.3 * shape.wave + 0.1 * shape.noise, 2),
    }
  }
  const incident = machine.id === INCIDENT ? incidentAt(began, time) : undefined
  const usual = 70 + 8 * chance('base') + 4 * shape.day + 2 * shape.drift + 2 * shape.wave + 0.4 * shape.noise
  const heating = Math.max(level('pump', 120 * SECOND), incident === undefined ? 0 : levelOf(incident, 10 * SECOND))
  return {
    temperature: rounded(usual + (98 - usual) * heating, 1),
    pressure: rounded(
      1.7 + 0.2 * shape.day + 0.1 * shape.wave + 0.02 * shape.noise - 0.9 * level('leak', 240 * SECOND),
      2,
    ),
    pump: !isOn('pump') && incident?.isOn !== true,
  }
}

interface Course {
  /** ms since the beginning */
  readonly since: number
  readonly lasts: number
  readonly isOn: boolean
}

function courseOf(since: number, lasts: number): Course {
  return { since, lasts, isOn: since >= 0 && since < lasts }
}

function faultAt(
  chance: (what: string, n: number) => number,
  { type }: Machine,
  time: number,
): (Course & { readonly kind: Fault }) | undefined {
  const window = Math.floor(time / FAULT_WINDOW)
  if (chance('fault', window) >= FAULT_SHARE) return undefined
  const lasts = (10 + 20 * chance('lasts', window)) * MINUTE
  const begins = window * FAULT_WINDOW + chance('begins', window) * (FAULT_WINDOW - 2 * HOUR)
  const kinds = FAULTS[type]
  const kind = kinds[Math.floor(chance('kind', window) * kinds.length)] ?? kinds[0]
  return { kind, ...courseOf(time - begins, lasts) }
}

function incidentAt(began: number, time: number): Course | undefined {
  const since = time - began - INCIDENT_AFTER
  return since < 0 ? undefined : courseOf(since % INCIDENT_EVERY, INCIDENT_LASTS)
}

/** Returns the share of the full effect: it rises while the course lasts, and falls afterwards. */
function levelOf({ since, lasts, isOn }: Course, rise: number): number {
  if (since < 0) return 0
  return isOn ? 1 - Math.exp(-since / rise) : (1 - Math.exp(-lasts / rise)) * Math.exp(-(since - lasts) / rise)
}

/** Returns noise between -1 and 1 that changes gradually. */
function smooth(chance: (what: string, n: number) => number, at: number): number {
  const n = Math.floor(at)
  const [from, to] = [chance('wave', n), chance('wave', n + 1)]
  return 2 * (from + (to - from) * (at - n)) - 1
}

function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits))
}
