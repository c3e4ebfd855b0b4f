/** Turns records of a broker into messages that name their resource. */
import { isUtf8 } from 'node:buffer'
import { AppError, isPlainObject, type JsonObject, msOf, ownValue, shown, stepsOf } from '#kernel'
import { parseMessages } from '#services/shared'
import type { ConnectorType, RecordMapping } from './connector-schema.ts'
import type { ResourceObject, SourceRecord } from './port.ts'

/** Throws `NOT_JSON`, `TOO_LARGE`, or `VALIDATION` for a record without a resource or with an unusable timestamp. */
export function mappedRecord(
  record: SourceRecord,
  type: ConnectorType,
  map: RecordMapping = {},
): readonly ResourceObject[] {
  const body = parseMessages(textOf(record))
  return Array.isArray(body)
    ? body.map((each) => messageOf(each, record, type, map))
    : [messageOf(body, record, type, map)]
}

export function textOf({ payload }: SourceRecord): string {
  if (payload.length === 0) throw new AppError('NOT_JSON', 'the record is empty')
  if (!isUtf8(payload)) throw new AppError('NOT_JSON', 'the payload is not JSON: it is not UTF-8')
  return Buffer.from(payload.buffer, payload.byteOffset, payload.length).toString()
}

function messageOf(body: unknown, record: SourceRecord, type: ConnectorType, map: RecordMapping): ResourceObject {
  const { resource: from = type === 'kafka' ? 'key' : 'topic', metrics: at = '', metric = '', timestamp } = map
  const resource = foundAt(from, body, record)
  if (resource === undefined) {
    const message =
      from === 'key' ? 'the record has no key, which names the resource' : `the record has no resource at ${from}`
    throw new AppError('VALIDATION', message)
  }
  const found = valueAt(at, body)
  if (found === undefined || Array.isArray(found))
    throw new AppError('VALIDATION', `the record has no metrics at ${at}`)
  const metrics = isPlainObject(found) ? { ...found } : { [named(metric, body, record)]: found }
  if (at === '')
    for (const used of [from, timestamp ?? '']) if (/^\/[^/]+$/.test(used)) delete metrics[stepsOf(used)[0] ?? '']
  const time =
    timestamp === undefined ? metrics['timestamp'] : readTime(foundAt(timestamp, body, record), timestamp, map)
  return { ...(metrics as JsonObject), resource, ...withTime(time, record) }
}

function withTime(time: unknown, { time: ofRecord }: SourceRecord): { readonly timestamp?: number | string } {
  const used = time ?? ofRecord
  return used === undefined ? {} : { timestamp: used as number | string }
}

function named(place: string, body: unknown, record: SourceRecord): string {
  return place === '' ? 'value' : (foundAt(place, body, record) ?? 'value')
}

const EPOCH = /^-?\d{1,20}(?:\.\d{1,9})?$/

function readTime(text: string | undefined, place: string, { unit = 'ms' }: RecordMapping): number | string {
  if (text === undefined) throw new AppError('VALIDATION', `the record has no timestamp at ${place}`)
  if (!EPOCH.test(text)) return text
  return unit === 'ns' ? Math.round(Number(text) / 1e6) : msOf(Number(text), unit)
}

/** Returns a text or number as text; undefined for anything else. */
function foundAt(place: string, body: unknown, { key, topic, headers = {} }: SourceRecord): string | undefined {
  if (place === 'key') return key === '' ? undefined : key
  if (place === 'topic') return topic
  if (place.startsWith('topic/')) return topic.split('/')[Number(place.slice('topic/'.length))]
  if (place.startsWith('header/')) return ownValue(headers, place.slice('header/'.length)) as string | undefined
  const value = valueAt(place, body)
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  if (value === undefined || typeof value === 'string') return value === '' ? undefined : value
  throw new AppError('VALIDATION', `${shown(value)} at ${place} is not a text or a number`)
}

function valueAt(pointer: string, body: unknown): unknown {
  return stepsOf(pointer).reduce<unknown>((part, step) => ownValue(part, step), body)
}
