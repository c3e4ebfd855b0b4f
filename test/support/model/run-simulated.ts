/** Plays the messages of a script to a rule by `simulate`, and gives the script as a live engine would get it. */
import type { EngineEvent } from '../../../src/core/engine/events.ts'
import type { Rule } from '../../../src/core/rule/rule.ts'
import { simulate } from '../../../src/index.ts'
import { asPlugs, OpenCalls } from './as-plugs.ts'
import { type Script, SCRIPT_START, TASK_ID } from './script.ts'

const REST = 30_000

/** A script as a live engine gets it when each message comes at its own time, or at once when it is late. */
export function atTheirTimes(script: Script): Script {
  let at = 0
  const live = messagesOf(script).map((message): Script[number] => {
    at = Math.max(at, message.timestamp - SCRIPT_START)
    return { at, input: { kind: 'data', messages: [message] } }
  })
  return [...live, { at: at + REST, input: { kind: 'wait' } }]
}

/** The events of a simulation until the end of the script, under the id that scripted tasks have. */
export async function runSimulated(rule: Rule, script: Script): Promise<EngineEvent[]> {
  const until = SCRIPT_START + (script.at(-1)?.at ?? 0)
  const plugs = asPlugs(new OpenCalls())
  const messages = messagesOf(script)
  const { events } = await simulate(rule, { messages, plugs, from: SCRIPT_START, until, seed: 1 })
  return events.map(underItsName)
}

function messagesOf(script: Script): { resource: string; timestamp: number }[] {
  const messages = script.flatMap(({ input }) => (input.kind === 'data' ? input.messages : []))
  return messages.map((message) => ({ ...message, timestamp: Number(message['timestamp']) }))
}

/** A simulation names its task itself, and ids of effects begin with that name. */
function underItsName(event: EngineEvent): EngineEvent {
  const effect = event.type === 'fired' ? { effect: event.effect.replace(`${event.task}/`, `${TASK_ID}/`) } : {}
  // a tick of the task's own that is held back bears its name
  const node = event.node === event.task ? { node: TASK_ID } : {}
  return { ...event, task: TASK_ID, ...effect, ...node }
}
