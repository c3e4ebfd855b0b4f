/** The body of a creation. */
import {
  AppError,
  FORBIDDEN_KEYS,
  isPlainObject,
  type Issue,
  isTooLongForId,
  type Json,
  MAX_ID_BYTES,
  refusedBy,
} from '#kernel'
import { BodyReader } from './body-reader.ts'
import type { AlarmStatus, Severity } from './contract.ts'
import { MAX_SEARCHED, searchTexts } from './search-texts.ts'
import { SEVERITIES, STATUSES } from './words.ts'

/** Times are epoch ms. */
export interface NewAlarm {
  readonly type: string
  readonly text: string
  readonly severity: Severity
  readonly source: Readonly<Record<string, Json>> & { readonly id: string }
  readonly status: AlarmStatus
  /** default: when it is raised */
  readonly timestamp?: number
  readonly assignee?: string
  readonly properties?: Readonly<Record<string, Json>>
  readonly autoClearAfter?: string
  readonly snoozeUntil?: number
  readonly escalation?: { readonly after: string; readonly severity: Severity }
  readonly dedupKey?: string
}

const OWN: ReadonlySet<string> = new Set([
  'type',
  'text',
  'severity',
  'source',
  'status',
  'timestamp',
  'assignee',
  'autoClearAfter',
  'snoozeUntil',
  'escalation',
  'dedupKey',
])

const MAX_NAME = 500
const MAX_TEXT = 10_000
/** characters of a body as JSON */
const MAX_BODY = 65_536

/** `VALIDATION` with all problems, `TOO_LARGE`. */
export function readAlarm(body: unknown, now: number): NewAlarm {
  const reader = BodyReader.of(body, 'the alarm')
  for (const name of ['type', 'text', 'severity', 'source']) reader.require(name)
  const type = reader.text('type', MAX_NAME)
  const text = reader.text('text', MAX_TEXT)
  const severity = reader.word('severity', SEVERITIES)
  const source = readSource(reader)
  const status = reader.word('status', STATUSES)
  const timestamp = reader.time('timestamp')
  const assignee = reader.isNull('assignee') ? undefined : reader.text('assignee', MAX_NAME)
  const autoClearAfter = reader.duration('autoClearAfter')
  const snoozeUntil = reader.isNull('snoozeUntil') ? undefined : reader.time('snoozeUntil')
  const escalation = readEscalation(reader)
  const dedupKey = reader.text('dedupKey', MAX_NAME)
  if (dedupKey === '') reader.wrong('dedupKey', 'is empty', 'leave it out, or name what makes two alarms the same')
  const properties = readProperties(reader)
  reader.done('the alarm')
  requireSize(body, properties)
  if (type === undefined || text === undefined || severity === undefined || source === undefined) throw incomplete()
  return {
    type,
    text,
    severity,
    source,
    status: status ?? 'ACTIVE',
    ...(timestamp !== undefined && { timestamp }),
    ...(assignee !== undefined && assignee !== '' && { assignee }),
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(autoClearAfter !== undefined && { autoClearAfter }),
    ...(snoozeUntil !== undefined && snoozeUntil > now && { snoozeUntil }),
    ...(escalation && { escalation }),
    ...(dedupKey !== undefined && { dedupKey }),
  }
}

/** What of an alarm would be refused, when whatever is missing were as it should be. */
export function issuesOfAlarm(body: unknown, now: number): readonly Issue[] {
  return refusedBy(() => readAlarm(isPlainObject(body) ? { ...COMPLETE, ...body } : body, now))
}

const COMPLETE = { type: 'x', text: 'x', severity: 'MINOR', source: { id: 'x' } }

function readSource(reader: BodyReader): NewAlarm['source'] | undefined {
  const inner = reader.inner('source')
  inner?.require('id')
  const id = inner?.text('id', Number.POSITIVE_INFINITY)
  if (id !== undefined && isTooLongForId(id)) {
    inner?.wrong('id', `has more than ${MAX_ID_BYTES} bytes`, 'it is the id of a resource')
  }
  if (id === '') inner?.wrong('id', 'is empty', 'name a resource')
  const source = reader.json('source')
  return id === undefined || source === undefined ? undefined : (source as NewAlarm['source'])
}

export function readEscalation(reader: BodyReader): NewAlarm['escalation'] | undefined {
  const inner = reader.inner('escalation')
  if (inner === undefined) return undefined
  inner.require('after')
  inner.require('severity')
  inner.refuseOthers(['after', 'severity'])
  const after = inner.duration('after')
  const severity = inner.word('severity', SEVERITIES)
  return after === undefined || severity === undefined ? undefined : { after, severity }
}

function readProperties(reader: BodyReader): Readonly<Record<string, Json>> {
  const properties: Record<string, Json> = {}
  for (const name of reader.keys) {
    if (OWN.has(name)) continue
    if (FORBIDDEN_KEYS.has(name)) {
      reader.wrong(name, 'this name is not allowed')
      continue
    }
    const value = reader.json(name)
    if (value !== undefined) properties[name] = value
  }
  return properties
}

function requireSize(body: unknown, properties: Readonly<Record<string, Json>>): void {
  const { length } = JSON.stringify(body)
  if (length > MAX_BODY) {
    throw new AppError('TOO_LARGE', `the alarm has ${length} characters; at most ${MAX_BODY} are kept`)
  }
  const { length: count } = searchTexts(properties)
  if (count > MAX_SEARCHED) {
    throw new AppError('TOO_LARGE', `the alarm has ${count} additional values; at most ${MAX_SEARCHED} are kept`)
  }
}

/** What the reader lets through has them all. */
function incomplete(): AppError {
  return new AppError('INTERNAL', 'an alarm was read without its parts')
}
