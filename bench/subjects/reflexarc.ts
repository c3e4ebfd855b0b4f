/** This engine, in the ways in which it is measured. */
import { builtins } from '../../plugins/index.ts'
import { createEngine } from '../../src/index.ts'
import type { Subject } from '../subject.ts'
import { chainRule, thresholdRule, type Conditions } from './bench-rules.ts'
import { chainStep } from './chain-step.ts'
import { clockScheduler } from './clock-scheduler.ts'
import { countPlug } from './count-plug.ts'
import { nextTurnSensor } from './next-turn-sensor.ts'

interface Variant {
  conditions: Conditions
  /** somebody counts the engine's events */
  subscribed: boolean
  /** firings carry their why */
  why: boolean
}

function subject({ conditions, subscribed, why }: Variant): Subject {
  return async (workload, clock) => {
    const { plug: count, counted } = countPlug()
    const scheduler = clockScheduler(clock)
    const engine = createEngine({ plugs: [...builtins, chainStep, nextTurnSensor, count], scheduler, why })

    let firedEvents = 0
    let events = 0
    if (subscribed) {
      engine.events$.subscribe((event) => {
        events++
        if (event.type === 'fired' && event.node === 'count') firedEvents++
      })
    }

    const isLater = workload.kind === 'threshold' && workload.answers === 'next turn'
    if (workload.kind === 'chain') {
      await engine.start(chainRule(workload), { resource: workload.resource })
    } else {
      const asked = isLater ? 'nextTurn' : conditions
      for (const limits of workload.limits) {
        await engine.start(thresholdRule(limits, workload, asked), { resource: limits.resource })
      }
    }

    return {
      handle(event) {
        engine.receive(event)
      },
      waits: false,
      fired: counted,
      ...(isLater && { drain: () => engine.settled() }),
      async finish() {
        await engine.settled()
        if (scheduler.overdue() > 0) throw new Error(`${scheduler.overdue()} timers of the engine are overdue`)
        if (subscribed && firedEvents !== counted()) {
          throw new Error(`${counted()} firings, but ${firedEvents} of the ${events} events say so`)
        }
        await engine.close()
      },
    }
  }
}

export const reflexarc = subject({ conditions: 'streaming', subscribed: false, why: false })
export const reflexarcLogic = subject({ conditions: 'logic', subscribed: false, why: false })
export const reflexarcEvents = subject({ conditions: 'streaming', subscribed: true, why: false })
export const reflexarcWhy = subject({ conditions: 'streaming', subscribed: true, why: true })
