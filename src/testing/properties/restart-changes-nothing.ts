/** The property that a run goes on after a restart as if there had been none. */
import type { EngineEvent } from '../../core/engine/events.ts'
import { instantText } from '../moment-text.ts'
import type { RuleProperty } from '../property.ts'

/** A process that dies after any messages, and goes on from what it saved, gives the same events to the byte. */
export function restartChangesNothing(): RuleProperty {
  return {
    name: 'a restart changes nothing',
    async check(run) {
      const { events } = await run.restarted()
      const length = Math.max(events.length, run.events.length)
      for (let i = 0; i < length; i++) {
        const usual = run.events[i]
        const restarted = events[i]
        if (JSON.stringify(usual) === JSON.stringify(restarted)) continue
        const time = instantText(usual?.time ?? restarted?.time ?? 0)
        const died = run.crashes.join(', ')
        return `dying after message ${died} it differs at ${time}: ${eventText(restarted)} instead of ${eventText(usual)}`
      }
      return undefined
    },
  }
}

function eventText(event: EngineEvent | undefined): string {
  if (event === undefined) return 'nothing'
  const { time: _time, task: _task, ...said } = event
  const text = JSON.stringify(said)
  return text.length > 200 ? `${text.slice(0, 197)}...` : text
}
