/** The shapes of the service for its API page. */
import { Type } from 'typebox'
import { MAX_IGNORES } from './read-converter.ts'

const Text = Type.String()
const Members = Type.Record(Text, Type.Unknown())

const Configuration = {
  type: Type.Literal('velocity'),
  template: Type.String({ description: 'the template, as Apache Velocity reads it' }),
  compat: Type.Optional(Type.Enum(['1.7', '2.4'], { description: 'the version whose ways it follows; default 1.7' })),
  mqtt: Type.Optional(
    Type.Object({
      topic: Type.String({ description: 'a filter of topics; its wildcards are $topic[0], $topic[1] ...' }),
    }),
  ),
  identityIgnores: Type.Optional(
    Type.Array(Text, {
      maxItems: MAX_IGNORES,
      description:
        'keys of messages that do not count when one is compared with one that was taken, such as receivedAt',
    }),
  ),
}

export const ConfigurationSchema = Type.Object(Configuration, { title: 'ConverterConfiguration' })
export const ConverterSchema = Type.Object({ name: Text, ...Configuration }, { title: 'Converter' })
export const ConvertersSchema = Type.Record(Text, Type.Object(Configuration), { title: 'Converters' })
export const PayloadSchema = Type.Unknown({ title: 'ConverterPayload', description: 'whatever the device sends' })

const Converted = { metrics: Type.Array(Members), metadata: Type.Optional(Type.Array(Members)) }
export const ConvertedSchema = Type.Object(Converted, { title: 'Converted' })

export const TestSchema = Type.Object(
  { config: Type.Object(Configuration), payload: Type.Unknown(), topic: Type.Optional(Text) },
  { title: 'ConverterTest' },
)
export const TestedSchema = Type.Object(
  {
    ...Converted,
    stored: Type.Object({
      samples: Type.Array(Type.Object({ resource: Text, metric: Text, value: Type.Unknown() })),
      metadata: Type.Record(Text, Members),
    }),
    warnings: Type.Array(Text),
  },
  { title: 'ConverterTested' },
)
export const IngestedSchema = Type.Object(
  { messages: Type.Integer(), rejected: Type.Optional(Type.String({ description: 'its id among the rejected ones' })) },
  { title: 'Ingested' },
)
export const RejectedSchema = Type.Object(
  {
    total: Type.Integer(),
    rejected: Type.Array(
      Type.Object({
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
      }),
    ),
  },
  { title: 'RejectedPayloads' },
)
export const RetrySchema = Type.Object({ ids: Type.Optional(Type.Array(Text)) }, { title: 'RejectedRetry' })
export const RetriedSchema = Type.Object(
  { forwarded: Type.Array(Text), failed: Type.Array(Type.Object({ id: Text, error: Text })) },
  { title: 'RejectedRetried' },
)
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
