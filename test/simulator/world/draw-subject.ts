/** Draws a run that is about one subject. */
import { SIMULATED } from '../services/index.ts'
import { Chance } from './chance.ts'
import { drawFault } from './draw-fault.ts'
import { SERVED, SERVED_WHERE_NEEDED } from './host-life.ts'
import type { Cast, Fault, Plan, Step } from './plan.ts'
import { SUBJECTS, type Meeting, type Subject } from './subjects.ts'
import { TENANTS } from './world.ts'

/** Probability that a run is about a subject. */
const ABOUT_SUBJECT = 0.3
/** ms from the end of a fault to a step that is timed to coincide with it */
const AFTER_END_MS = [-5, 0, 1, 10, 100, 500, 1500]

/** Returns the run's subject, or undefined. Draws separately from everything else. `name`: forces this subject. */
export function subjectOf(seed: string, name?: string): Subject | undefined {
  const chance = new Chance(`subject ${seed}`)
  if (name === undefined) return chance.is(ABOUT_SUBJECT) ? chance.of(SUBJECTS) : undefined
  const found = SUBJECTS.find((one) => one.name === name)
  if (found !== undefined) return found
  throw new Error(`there is no subject "${name}"; there are: ${SUBJECTS.map((one) => one.name).join(', ')}`)
}

export function drawAbout(seed: string, subject: Subject): Plan {
  const chance = new Chance(`about ${subject.name} ${seed}`)
  const cast = drawCast(chance, subject)
  const operations = operationsOf(cast, subject)
  const { always = {} } = subject
  const gapsMs = chance.is(0.5) ? subject.gapsMs : [chance.of(subject.gapsMs)]
  const time = new PlanTime(chance, subject.atEnds ?? 0)
  const steps: Step[] = []
  for (const [probability, kind] of subject.first) {
    if (chance.is(probability)) steps.push({ at: time.at, ...kind(chance) })
  }
  const count = chance.between(...subject.count)
  for (let n = 0; n < count; n++) {
    time.pass(chance.is(0.2) ? 0 : chance.below(chance.of(gapsMs) * 2))
    const { name, draw } = chance.weighted(operations)
    steps.push({
      at: time.at,
      do: name,
      tenant: chance.of(cast.tenants),
      with: { ...draw(chance, n), ...always[name] },
    })
    let isFirst = true
    for (const meeting of subject.meetings) {
      const { after, is } = meeting
      if (after?.includes(name) === false || !chance.is(is)) continue
      steps.push(...faultsOf(chance, meeting, time, isFirst))
      isFirst = false
    }
  }
  return { seed, cast, steps }
}

/** `isFirst`: no fault has followed the operation yet, so the first one may occur in the middle of it. */
function* faultsOf(
  chance: Chance,
  { kinds, count, apartMs, pauseMs }: Meeting,
  time: PlanTime,
  isFirst: boolean,
): Generator<Step> {
  const many = chance.between(...count)
  for (let i = 0; i < many; i++) {
    const isInTheMiddle = isFirst && i === 0 && pauseMs === undefined
    if (!isInTheMiddle) time.pass(chance.of(i === 0 ? (pauseMs ?? apartMs) : apartMs))
    const fault = drawFault(chance, kinds)
    time.began(fault)
    const turns = chance.of([0, chance.below(20), ...(isInTheMiddle ? [chance.below(60), chance.below(200)] : [])])
    yield { at: time.at, ...fault, turns }
  }
}

/** Tracks the time of drawn steps, in ms since the beginning. */
class PlanTime {
  at = 1000
  readonly #chance: Chance
  readonly #atEnds: number
  #endsAt = 0

  constructor(chance: Chance, atEnds: number) {
    this.#chance = chance
    this.#atEnds = atEnds
  }

  /** Advances by `ms`, or so that the next step coincides with the end of the last fault. */
  pass(ms: number): void {
    const end = this.#endsAt + this.#chance.of(AFTER_END_MS)
    this.at = this.at < this.#endsAt && end > this.at && this.#chance.is(this.#atEnds) ? end : this.at + ms
  }

  began(fault: Fault): void {
    if (fault.fault === 'trouble') this.#endsAt = this.at + fault.ms
    else if ('downMs' in fault) this.#endsAt = this.at + fault.downMs
  }
}

function drawCast(chance: Chance, { services: lists, variants = {} }: Subject): Cast {
  const list = chance.of(lists)
  const services = [...new Set(list.flatMap((name) => [name, ...livesOn(name)]))]
  const present = SIMULATED.filter(({ name }) => services.includes(name))
  const some = (all: readonly string[]): readonly string[] => {
    const drawn = all.filter(() => chance.is(0.5))
    return drawn.length > 0 ? drawn : [chance.of(all)]
  }
  const needed = present.flatMap(({ needs = SERVED }) => needs)
  return {
    tenants: [chance.of(TENANTS)],
    services,
    variants: Object.fromEntries(
      present.flatMap(({ name, variants: all = [] }) => {
        const chosen = variants[name] ?? (all.length > 0 ? some(all) : [])
        return chosen.length > 0 ? [[name, chosen]] : []
      }),
    ),
    serves: [...SERVED, ...SERVED_WHERE_NEEDED].filter((name) => needed.includes(name)),
  }
}

function livesOn(name: string): readonly string[] {
  return SIMULATED.find((one) => one.name === name)?.livesOn ?? []
}

function operationsOf({ services }: Cast, { operations: weights = {} }: Subject) {
  return SIMULATED.filter(({ name }) => services.includes(name)).flatMap(({ name, operations }) =>
    Object.entries(operations).map(([own, { weight, draw }]) => {
      const drawn = weights[name] === undefined ? weight : (weights[name][own] ?? 0)
      return [drawn, { name: `${name}.${own}`, draw }] as const
    }),
  )
}
