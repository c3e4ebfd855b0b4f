/** Creates the errors that an engine throws, with their codes. */
import { AppError, isPlainObject } from '#kernel'
import { jsonFault } from '../plug/answer-json.ts'
import { requireChannel } from '../plug/channel.ts'
import type { Sent } from '../task/origin.ts'
import type { Graph, GraphNode } from '../graph/graph.ts'
import type { SavedTask, Task } from './api.ts'

export function requireMessage(value: unknown, what: string): void {
  const resource: unknown =
    typeof value === 'object' && value !== null && 'resource' in value ? value.resource : undefined
  if (typeof resource === 'string') return
  throw new AppError('VALIDATION', `${what} has no resource; write { resource: 'boiler-1', temperature: 93 }`)
}

export function requireMessages(messages: readonly unknown[], sent: Sent | undefined): void {
  if (messages.length === 1) requireMessage(messages[0], 'the message')
  else for (const [i, message] of messages.entries()) requireMessage(message, `message ${i}`)
  const { channel, hops = 0 } = sent ?? {}
  if (channel !== undefined) requireChannel(channel)
  if (Number.isSafeInteger(hops) && hops >= 0) return
  throw new AppError(
    'VALIDATION',
    `hops is ${String(hops)}; pass the number of rules that led to the message, 0 or more`,
  )
}

export function notPossible(action: string, status: string): AppError {
  return new AppError('WRONG_STATUS', `Not possible to ${action}, for the task in status ${status}`)
}

export function wrongStatus(action: string, task: Task): AppError {
  return notPossible(`apply action ${action}`, task.status)
}

export function taskExists(id: string, instead: string): AppError {
  return new AppError('VALIDATION', `task ${id} already exists; ${instead}`)
}

export function requireFormat({ format }: SavedTask): void {
  if (format === 1) return
  throw new AppError('SAVED_STATE', `the saved task has format ${String(format)}; this version reads format 1`)
}

export function requireResources({ resources }: SavedTask, count: number): void {
  if (resources.length === count) return
  throw new AppError(
    'SAVED_STATE',
    `the saved task has ${resources.length} resources, but its rule has ${count}; restore it with the rule that it was saved with`,
  )
}

export function requirePushed(label: string, value: { readonly state?: unknown; readonly rawData?: unknown }): void {
  const { state, rawData } = value
  if (rawData !== undefined && !isPlainObject(rawData)) {
    throw new AppError(
      'VALIDATION',
      `rawData pushed to ${label} is not an object; write an object such as { rawData: { level: 3 } }`,
    )
  }
  const fault = rawData === undefined ? undefined : jsonFault(rawData, 'rawData')
  if (fault !== undefined) throw new AppError('VALIDATION', `the push to ${label} has ${fault}`)
  if (state === undefined && rawData === undefined) {
    throw new AppError('VALIDATION', `nothing was pushed to ${label}; set a state, rawData, or both`)
  }
}

export function noNode(task: string, label: string, { byLabel }: Graph): AppError {
  return new AppError('NOT_FOUND', `task ${task} has no node ${label}; it has ${[...byLabel.keys()].join(', ')}`)
}

export function noSensor(task: string, { label, kind }: GraphNode): AppError {
  const what = kind === 'gate' ? 'a relation' : 'an actuator'
  return new AppError('NOT_FOUND', `node ${label} of task ${task} is ${what}, not a sensor`)
}

export function requireNoGroup(task: string, { label, group }: GraphNode): void {
  if (group === -1) return
  const message = `node ${label} of task ${task} has one state per member of its group, and only messages of a member run it`
  throw new AppError('VALIDATION', message)
}

export function closedError(): AppError {
  return new AppError('CLOSED', 'the engine is closed; create another engine and restore the saved tasks')
}
