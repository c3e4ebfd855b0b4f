/** Turns records of a source into messages that passed the checks of a post, and changes of resources. */
import { AppError, type Caller } from '#kernel'
import type { BatchIntake, PostOptions, ReadMessage } from '#services/broker/contract'
import type { InternalConverter } from '#services/converter/contract'
import type { ResourcesService } from '#services/resources/contract'
import { Payload } from '#services/shared'
import type { SourceDocument } from './connector-schema.ts'
import { mappedRecord, textOf } from './map-record.ts'
import type { DecodedRecord, SourceRecord } from './port.ts'

export interface DecodingOptions {
  readonly document: SourceDocument
  readonly caller: Caller
  readonly converter: () => InternalConverter | undefined
  readonly resources: () => ResourcesService | undefined
}

/** Errors of the record itself, which would occur again. */
export const REFUSALS: ReadonlySet<string> = new Set(['TEMPLATE', 'CONVERSION', 'VALIDATION', 'NOT_JSON', 'TOO_LARGE'])

/** maximum number of messages of one record */
const MAX_LIST = 10_000

type Decoded = DecodedRecord & Pick<PostOptions, 'identityIgnores'>

/** Returns the messages of a record, and changes the resources that it describes. Throws one of `REFUSALS`. */
export async function readRecord(
  record: SourceRecord,
  intake: BatchIntake,
  options: DecodingOptions,
): Promise<readonly ReadMessage[]> {
  const { messages, attributes = [], identityIgnores } = await decoded(record, options)
  if (messages.length > MAX_LIST) {
    throw new AppError('TOO_LARGE', `the record has ${messages.length} messages; at most ${MAX_LIST} are accepted`)
  }
  const reading = identityIgnores === undefined ? {} : { identityIgnores }
  const read = messages.map((message) => intake.read(message, reading))
  for (const { resource, ...changes } of attributes) await change(resource, changes, options)
  return read
}

function decoded(record: SourceRecord, options: DecodingOptions): Decoded | Promise<Decoded> {
  const { type, map, converter } = options.document
  if (record.failure !== undefined) throw record.failure
  if (record.decoded !== undefined) return record.decoded
  if (converter === undefined) return { messages: mappedRecord(record, type, map) }
  return converted(record, converter, options)
}

async function converted(record: SourceRecord, name: string, { converter }: DecodingOptions): Promise<Decoded> {
  const service = converter()
  if (service === undefined) throw new AppError('CLOSED', 'this host does not serve converters')
  const { metrics, metadata, identityIgnores } = await service.render(name, new Payload(textOf(record)), record.topic)
  const { time: timestamp } = record
  const messages = timestamp === undefined ? metrics : metrics.map((metric) => ({ timestamp, ...metric }))
  return { messages, ...(metadata && { attributes: metadata }), ...(identityIgnores && { identityIgnores }) }
}

async function change(resource: string, changes: object, { caller, resources }: DecodingOptions): Promise<void> {
  const api = resources()?.as(caller).resources
  if (api === undefined) throw new AppError('CLOSED', 'this host does not serve resources')
  await api.patch(resource, changes).catch(async (error: unknown) => {
    // the resource has not sent a message yet
    if (!(error instanceof AppError) || error.code !== 'NOT_FOUND') throw error
    await api.create({ id: resource, ...changes })
  })
}
