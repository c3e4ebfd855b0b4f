/** This engine, in the measured ways. */
import { builtins } from '../../plugins/index.ts'
import { createEngine } from '../../src/index.ts'
import type { Subject } from '../subject.ts'
import { chainRule, thresholdRule } from './bench-rules.ts'
import { clockScheduler } from './clock-scheduler.ts'
import { actingPlugs, chainStep, countPlug, nextTurnSensor } from './plugs.ts'
import { Things } from './things.ts'

/** `why`: a subscriber counts the engine's events, and firings carry their why */
function subject({ why }: { readonly why: boolean }): Subject {
  return async (workload, clock) => {
    const { plug: count, counted } = countPlug()
    const scheduler = clockScheduler(clock)
    const things = new Things()
    const plugs = [...builtins, chainStep, nextTurnSensor, count, ...actingPlugs(things)]
    const engine = createEngine({ plugs, scheduler, why })

    let firedEvents = 0
    let events = 0
    if (why) {
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
      for (const limits of workload.limits) {
        await engine.start(thresholdRule(limits, workload), { resource: limits.resource })
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
        if (why && firedEvents !== counted()) {
          throw new Error(`${counted()} firings, but ${firedEvents} of the ${events} events are firings`)
        }
        await engine.close()
      },
    }
  }
}

export const reflexarc = subject({ why: false })
export const reflexarcWhy = subject({ why: true })
