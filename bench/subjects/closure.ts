/** The limit: hand-written code for exactly this workload. */
import type { BenchEvent } from '../events.ts'
import type { Running, Subject } from '../subject.ts'
import type { ChainWorkload, Limits, ThresholdWorkload } from '../workload.ts'
import { rulesByResource } from './by-hand.ts'
import { comparedNextTurn } from './next-turn.ts'
import { Things } from './things.ts'

type Handler = (event: BenchEvent) => void

export const closure: Subject = (workload, clock) => {
  let firings = 0
  const act = () => {
    firings++
  }
  const fired = () => firings
  if (workload.kind === 'chain') return { handle: chain(workload, act), waits: false, fired }
  if (workload.answers === 'next turn') return { ...awaiting(workload, act), waits: false, fired }
  if (workload.acts === 'in order') return { ...inOrder(workload), waits: false }

  const rule = (limits: Limits) =>
    workload.fires === 'every' ? whenever(limits, act) : whenItBecomesTrue(limits, workload.coolDownMs, clock, act)
  if (workload.onePerResource) {
    const rules = new Map(workload.limits.map((limits) => [limits.resource, rule(limits)]))
    return { handle: (event) => rules.get(event.resource)?.(event), waits: false, fired }
  }
  const rules = rulesByResource(workload.limits, rule)
  return {
    handle(event) {
      const list = rules.get(event.resource)
      if (list === undefined) return
      for (const handler of list) handler(event)
    },
    waits: false,
    fired,
  }
}

function whenever({ temperature, humidity }: Limits, act: () => void): Handler {
  return (event) => {
    if (event.temperature > temperature && event.humidity > humidity) act()
  }
}

function awaiting({ limits }: ThresholdWorkload, act: () => void): Pick<Running, 'handle' | 'drain'> {
  let open = 0
  let ended: (() => void) | undefined
  const rule = async ({ temperature, humidity }: Limits, event: BenchEvent): Promise<void> => {
    open++
    const warm = await comparedNextTurn(event.temperature, temperature)
    const damp = await comparedNextTurn(event.humidity, humidity)
    if (warm === 'Above' && damp === 'Above') act()
    if (--open === 0) ended?.()
  }
  const rules = new Map(limits.map((one) => [one.resource, (event: BenchEvent) => void rule(one, event)]))
  return {
    handle: (event) => rules.get(event.resource)?.(event),
    drain: () => new Promise((resolve) => (open === 0 ? resolve() : (ended = resolve))),
  }
}

interface Call {
  readonly by: 'note' | 'tell'
  readonly value: number
}

/** Queue per thing: a call waits for earlier ones. */
function inOrder({ limits }: ThresholdWorkload): Omit<Running, 'waits'> {
  const things = new Things()
  let open = 0
  let ended: (() => void) | undefined
  const rule = ({ resource, temperature, humidity }: Limits): Handler => {
    const waiting: Call[] = []
    let isOpen = false
    const make = ({ by, value }: Call): void => {
      if (by === 'note') return things.note(resource, value)
      isOpen = true
      open++
      void things.tell(resource, value).then(goOn)
    }
    const makeNext = (): void => {
      const next = isOpen ? undefined : waiting.shift()
      if (next === undefined) return
      make(next)
      makeNext()
    }
    const goOn = (): void => {
      isOpen = false
      makeNext()
      if (--open === 0) ended?.()
    }
    return (event) => {
      if (!(event.temperature > temperature && event.humidity > humidity)) return
      for (const by of ['note', 'tell'] as const) {
        const call = { by, value: event.temperature }
        if (isOpen) waiting.push(call)
        else make(call)
      }
    }
  }
  const rules = new Map(limits.map((one) => [one.resource, rule(one)]))
  return {
    handle: (event) => rules.get(event.resource)?.(event),
    drain: () => new Promise((resolve) => (open === 0 ? resolve() : (ended = resolve))),
    fired: () => things.calls,
    finish: () => things.expectOrder(),
  }
}

function whenItBecomesTrue(
  { temperature, humidity }: Limits,
  coolDownMs: number,
  clock: { now: number },
  act: () => void,
): Handler {
  let wasFalse = false
  let notBefore = 0
  return (event) => {
    if (!(event.temperature > temperature && event.humidity > humidity)) {
      wasFalse = true
    } else if (wasFalse) {
      wasFalse = false
      if (clock.now >= notBefore) {
        notBefore = clock.now + coolDownMs
        act()
      }
    }
  }
}

/** A closure per sensor, called in turn with the previous value. */
function chain({ resource, steps, limit }: ChainWorkload, act: () => void): Handler {
  const sensors = steps.map(
    ({ factor, offset }) =>
      (value: number) =>
        value * factor + offset,
  )
  const rules = new Map<string, Handler>([
    [
      resource,
      (event) => {
        let value = event.temperature
        for (const sensor of sensors) value = sensor(value)
        if (value > limit) act()
      },
    ],
  ])
  return (event) => rules.get(event.resource)?.(event)
}
