/** Plays the messages of a script with `simulate`, and converts the script for a live engine. */
import type { EngineEvent } from '../../../src/core/engine/events.ts'
import type { Rule } from '../../../src/core/rule/rule.ts'
import { simulate } from '../../../src/index.ts'
import { asPlugs, OpenCalls } from './as-plugs.ts'
import { type Script, SCRIPT_START, TASK_ID } from './script.ts'

const REST = 30_000

/** Returns the script for a live engine: each message comes at its own time, or at once when it is late. */
export function atTheirTimes(script: Script): Script {
  let at = 0
  const live = messagesOf(script).map((message): Script[number] => {
    at = Math.max(at, message.timestamp - SCRIPT_START)
    return { at, input: { kind: 'data', messages: [message] } }
  })
  return [...live, { at: at + REST, input: { kind: 'wait' } }]
}

/** Returns the events of a simulation until the end of the script, with the id of scripted tasks. */
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

/** Renames the task, which a simulation names by itself; ids of effects begin with that name. */
function underItsName(event: EngineEvent): EngineEvent {
  const effect = event.type === 'fired' ? { effect: event.effect.replace(`${event.task}/`, `${TASK_ID}/`) } : {}
  // a held tick of the task's clock also contains the name
  const node = event.node === event.task ? { node: TASK_ID } : {}
  return { ...event, task: TASK_ID, ...effect, ...node }
}
