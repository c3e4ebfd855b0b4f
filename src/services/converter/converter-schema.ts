/** Schemas of converters and their results, with limits. */
import { Type } from 'typebox'
import { type Json, type JsonObject } from '#kernel'
import { CHECKED, checked, closed, type Decoded, readOnly, refined, text } from '#services/shared/contract'
import { topicFault } from './topics.ts'

const MAX_TEMPLATE = 200_000
const MAX_TOPIC = 1_000
const MAX_IGNORES = 100
const MAX_RETRIED = 1_000
const MAX_PAGE = 1_000

const Text = Type.String()

const CONFIGURATION = {
  type: Type.Literal('velocity'),
  template: text(MAX_TEMPLATE, {
    pattern: String.raw`\S`,
    description: 'the template, as Apache Velocity reads it',
    ...CHECKED,
  }),
  compat: Type.Optional(Type.Enum(['1.7', '2.4'], { description: 'the version of Velocity to follow; default 1.7' })),
  mqtt: Type.Optional(
    closed({
      topic: refined(
        text(MAX_TOPIC, {
          minLength: 1,
          description: 'a filter of topics; its wildcards are $topic[0], $topic[1] ...',
        }),
        (topic) => {
          const message = typeof topic === 'string' ? topicFault(topic) : 'must be a topic, as text'
          return message === undefined ? [] : [{ message, suggestion: 'write a topic such as "gw/+/up"' }]
        },
      ),
    }),
  ),
  identityIgnores: Type.Optional(
    Type.Array(Text, {
      maxItems: MAX_IGNORES,
      description: 'keys of messages that duplicate detection ignores, such as receivedAt',
    }),
  ),
}
const ConfigurationSchema = closed({ ...CONFIGURATION, ...readOnly(['name']) }, { title: 'ConverterConfiguration' })
export const ConverterConfiguration = checked(ConfigurationSchema, { subject: 'the converter', type: 'CONVERTER' })

export const ConverterSchema = Type.Object({ name: Text, ...CONFIGURATION }, { title: 'Converter' })
export interface Converter extends Decoded<typeof ConverterSchema> {}
export const ConvertersSchema = Type.Record(Text, Type.Object(CONFIGURATION), { title: 'Converters' })

export const PayloadSchema = Type.Unknown({
  title: 'ConverterPayload',
  description: 'the payload of the device',
  ...CHECKED,
})

export type ConvertedEntry = JsonObject & { readonly resource: string }
const Members = Type.Record(Text, Type.Unknown())
const EntrySchema = Type.Object({ resource: Type.String({ minLength: 1 }) }, { additionalProperties: true })
const Entries = Type.Unsafe<readonly ConvertedEntry[]>(Type.Array(EntrySchema))
/** `metrics` have a `timestamp` in epoch ms, unless it is now; `metadata` are attributes of resources. */
const CONVERTED = { metrics: Entries, metadata: Type.Optional(Entries) }
export const ConvertedSchema = Type.Object(CONVERTED, { title: 'Converted' })
export const ConvertedJson = checked(ConvertedSchema, { subject: 'its JSON' })
export interface Converted extends Decoded<typeof ConvertedSchema> {}

export const ConverterTest = checked(
  closed(
    {
      config: ConfigurationSchema,
      payload: Type.Unknown(),
      topic: Type.Optional(
        text(MAX_TOPIC, { minLength: 1, description: 'simulated topic of the payload', ...CHECKED }),
      ),
    },
    { title: 'ConverterTest' },
  ),
  { subject: 'the test', type: 'CONVERTER' },
)

const SampleSchema = Type.Object({ resource: Text, metric: Text, value: Type.Unsafe<Json>(Type.Unknown()) })
export const TestedSchema = Type.Object(
  {
    ...CONVERTED,
    stored: Type.Object({
      samples: Type.Array(SampleSchema),
      metadata: Type.Unsafe<Readonly<Record<string, JsonObject>>>(Type.Record(Text, Members)),
    }),
    warnings: Type.Array(Text),
  },
  { title: 'ConverterTested' },
)
export interface Tested extends Decoded<typeof TestedSchema> {}

export const IngestedSchema = Type.Object(
  { messages: Type.Integer(), rejected: Type.Optional(Type.String({ description: 'its id among the rejected ones' })) },
  { title: 'Ingested' },
)
export interface Ingested extends Decoded<typeof IngestedSchema> {}

const RejectedPayloadSchema = Type.Object({
  id: Text,
  time: Text,
  topic: Type.Optional(Text),
  error: Text,
  code: Text,
  line: Type.Optional(Type.Integer()),
  column: Type.Optional(Type.Integer()),
  payload: Text,
  encoding: Type.Enum(['utf8', 'base64']),
  tries: Type.Integer(),
})
/** Base64 unless it is UTF-8; `line` and `column` refer to the template; times are ISO 8601. */
export interface RejectedPayload extends Decoded<typeof RejectedPayloadSchema> {}

export const REJECTED = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE, description: 'default 100' })),
  after: Type.Optional(Type.String({ description: 'items after the item with this id' })),
}
const RejectedQuerySchema = Type.Object(REJECTED)
export interface RejectedQuery extends Decoded<typeof RejectedQuerySchema> {}

export const RejectedSchema = Type.Object(
  {
    values: Type.Unsafe<readonly RejectedPayload[]>(Type.Array(RejectedPayloadSchema)),
    next: Type.Optional(Type.String({ description: '`after` of the next page; absent on the last one' })),
    total: Type.Integer(),
  },
  { title: 'RejectedPayloads' },
)
export interface RejectedList extends Decoded<typeof RejectedSchema> {}

export const Retry = checked(
  closed({ ids: Type.Optional(Type.Array(Text, { maxItems: MAX_RETRIED })) }, { title: 'RejectedRetry' }),
  { subject: 'the retry' },
)
export const RetriedSchema = Type.Object(
  { forwarded: Type.Array(Text), failed: Type.Array(Type.Object({ id: Text, error: Text })) },
  { title: 'RejectedRetried' },
)
/** Result of a retry; forwarded payloads are no longer listed. */
export interface Retried extends Decoded<typeof RetriedSchema> {}

export const ErrorSchema = Type.Object(
  {
    statusCode: Type.Integer(),
    error: Text,
    code: Text,
    line: Type.Optional(Type.Integer()),
    column: Type.Optional(Type.Integer()),
    around: Type.Optional(Type.Array(Text)),
    details: Type.Optional(Type.Union([Text, Type.Array(Text)])),
  },
  { title: 'ConverterError' },
)
