/** This engine, in the ways in which it is measured. */
import { builtins } from '../../plugins/index.ts'
import { createEngine } from '../../src/index.ts'
import type { Subject } from '../subject.ts'
import { actingPlugs } from './acting-plugs.ts'
import { actingRule, chainRule, thresholdRule, type Conditions } from './bench-rules.ts'
import { chainStep } from './chain-step.ts'
import { clockScheduler } from './clock-scheduler.ts'
import { countPlug } from './count-plug.ts'
import { nextTurnSensor } from './next-turn-sensor.ts'
import { Things } from './things.ts'

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
    const things = new Things()
    const plugs = [...builtins, chainStep, nextTurnSensor, count, ...actingPlugs(things)]
    const engine = createEngine({ plugs, scheduler, why })

    let firedEvents = 0
    let events = 0
    if (subscribed) {
      engine.events$.subscribe((event) => {
        events++
        if (event.type === 'fired' && event.node === 'count') firedEvents++
      })
    }

    const isLater = workload.kind === 'threshold' && workload.answers === 'next turn'
    const isActing = workload.kind === 'threshold' && workload.acts === 'in order'
    if (workload.kind === 'chain') {
      await engine.start(chainRule(workload), { resource: workload.resource })
    } else {
      const asked = isLater ? 'nextTurn' : conditions
      const ruleOf = isActing ? actingRule : thresholdRule
      for (const limits of workload.limits) {
        await engine.start(ruleOf(limits, workload, asked), { resource: limits.resource })
      }
    }

    return {
      handle(event) {
        engine.receive(event)
      },
      waits: false,
      fired: () => (isActing ? things.calls : counted()),
      ...((isLater || isActing) && { drain: () => engine.settled() }),
      async finish() {
        await engine.settled()
        things.expectOrder()
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
