/** Formats the events of a task as log lines, newest first. */
import type { EngineEvent } from '#core'
import { heldText } from '#core/sentences'
import { makeIssue, refuse } from '#kernel'
import type { TaskLogLine, TaskLogPage, TaskLogQuery } from './inspection-schema.ts'
import { LOG_LEVELS, type LogLevel } from '../shared-schema.ts'

const DEFAULT_LIMIT = 100

interface Numbered {
  readonly number: number
  readonly event: EngineEvent
}

/** Returns one page of log lines. The next page contains events numbered below `pageToken`. */
export function logPage(events: readonly Numbered[], query: TaskLogQuery): TaskLogPage {
  const { taskId, logLevel = 'DEBUG', messageContains, from = 0, until = Infinity, pageToken } = query
  const limit = query.limit ?? DEFAULT_LIMIT
  const before = pageToken === undefined || pageToken === '' ? Infinity : numberOf(pageToken)
  const least = LOG_LEVELS.indexOf(logLevel)
  const logs: TaskLogLine[] = []
  let last = 0
  for (const { number, event } of events.toReversed()) {
    if (number >= before || event.time < from || event.time >= until) continue
    const { level, message } = lineOf(event)
    if (LOG_LEVELS.indexOf(level) < least) continue
    if (messageContains !== undefined && !message.includes(messageContains)) continue
    if (logs.length === limit) return { logs, pageToken: String(last) }
    const { node, at } = event
    logs.push({
      time: new Date(event.time).toISOString(),
      ...(at !== undefined && { at: new Date(at).toISOString() }),
      level,
      message,
      ...(node !== undefined && { node }),
      taskId,
    })
    last = number
  }
  return { logs }
}

function numberOf(pageToken: string): number {
  if (/^\d{1,16}$/.test(pageToken)) return Number(pageToken)
  const message = `"${pageToken.slice(0, 100)}" is not a page of this log`
  const suggestion = 'send the pageToken of the previous page'
  throw refuse('the query', [makeIssue('QUERY', '/pageToken', message, suggestion)])
}

export function lineOf(event: EngineEvent): { readonly level: LogLevel; readonly message: string } {
  switch (event.type) {
    case 'started':
      return { level: 'INFO', message: `task started, run ${event.run}` }
    case 'tick':
      return {
        level: 'DEBUG',
        message: event.node === undefined ? 'tick of the task' : `tick of the node ${event.node}`,
      }
    case 'data':
      return { level: 'DEBUG', message: `data of ${event.resource}: ${Object.keys(event.values).join(', ')}` }
    case 'state':
    case 'gate':
      return {
        level: 'DEBUG',
        message: `${event.node} went from ${event.from ?? 'unknown'} to ${event.to ?? 'unknown'}`,
      }
    case 'fired':
      return { level: 'INFO', message: `${event.source} fired ${event.node}` }
    case 'held':
      return { level: 'INFO', message: heldText(event) }
    case 'result':
      return event.ok
        ? { level: 'DEBUG', message: `${event.node} returned ${event.state ?? event.message ?? 'no state'}` }
        : { level: 'ERROR', message: `${event.node} failed: ${event.error ?? 'no reason given'}` }
    case 'evicted':
      return { level: 'DEBUG', message: `${event.node} forgot its state ${event.from}` }
    case 'log':
      return { level: event.level, message: event.message }
    case 'stopped':
      return { level: 'INFO', message: `task stopped: ${event.reason}` }
    case 'failed':
      return { level: 'ERROR', message: `task failed: ${event.error}` }
  }
}
