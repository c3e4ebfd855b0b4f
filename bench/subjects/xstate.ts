/** xstate 5: a machine and an actor for each rule; in the chain an actor per sensor, which sends its value on. */
import type { BenchEvent, Clock } from '../events.ts'
import type { Subject } from '../subject.ts'
import type { ChainWorkload, Limits, ThresholdWorkload } from '../workload.ts'
import { peerPackage, rulesByResource } from './by-hand.ts'

interface Actor {
  start(): Actor
  send(event: object): void
}
interface Xstate {
  createMachine(config: object): object
  createActor(machine: object): Actor
  assign(assignment: object): object
}
interface ReadingEvent {
  event: { reading: BenchEvent }
}
interface Held extends ReadingEvent {
  context: { notBefore: number }
}

export const xstate: Subject = async (workload, clock) => {
  const library = await peerPackage<Xstate>('xstate')
  let firings = 0
  const act = () => {
    firings++
  }
  if (workload.kind === 'chain') {
    const first = chainActor(library, workload, act)
    return {
      handle({ temperature }) {
        first.send({ type: 'value', value: temperature })
      },
      waits: false,
      fired: () => firings,
    }
  }
  const actors = rulesByResource(workload, (limits) =>
    library.createActor(library.createMachine(machine(library, workload, limits, clock, act))).start(),
  )
  return {
    handle(event) {
      for (const actor of actors.get(event.resource) ?? []) actor.send({ type: 'reading', reading: event })
    },
    waits: false,
    fired: () => firings,
  }
}

function machine(
  { assign }: Xstate,
  { fires, coolDownMs }: ThresholdWorkload,
  { temperature, humidity }: Limits,
  clock: Clock,
  act: () => void,
): object {
  const holds = ({ event: { reading } }: ReadingEvent) =>
    reading.temperature > temperature && reading.humidity > humidity
  if (fires === 'every') {
    return { initial: 'watching', states: { watching: { on: { reading: { guard: holds, actions: act } } } } }
  }
  const fails = (given: ReadingEvent) => !holds(given)
  const free = (given: Held) => holds(given) && clock.now >= given.context.notBefore
  const hold = assign({ notBefore: () => clock.now + coolDownMs })
  return {
    context: { notBefore: 0 },
    initial: 'unknown',
    states: {
      unknown: { on: { reading: [{ guard: fails, target: 'unmet' }, { target: 'met' }] } },
      unmet: {
        on: {
          reading: [
            { guard: free, target: 'met', actions: [act, hold] },
            { guard: holds, target: 'met' },
          ],
        },
      },
      met: { on: { reading: { guard: fails, target: 'unmet' } } },
    },
  }
}

/** The first of the actors. */
function chainActor({ createMachine, createActor }: Xstate, { steps, limit }: ChainWorkload, act: () => void): Actor {
  interface ValueEvent {
    event: { value: number }
  }
  let next = createActor(
    createMachine({ on: { value: { guard: ({ event }: ValueEvent) => event.value > limit, actions: act } } }),
  ).start()
  for (const { factor, offset } of steps.toReversed()) {
    const following = next
    const pass = ({ event }: ValueEvent) => following.send({ type: 'value', value: event.value * factor + offset })
    next = createActor(createMachine({ on: { value: { actions: pass } } })).start()
  }
  return next
}
