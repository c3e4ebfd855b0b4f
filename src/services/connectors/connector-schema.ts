/** Schemas of sources and sinks, of their status, and of rejected records, with limits. */
import { type TProperties, Type } from 'typebox'
import { isPlainObject } from '#kernel'
import {
  checked,
  closed,
  type Decoded,
  id,
  instant,
  type Problem,
  readOnly,
  refined,
  text,
} from '#services/shared/contract'

const MAX_BROKERS = 20
const MAX_TOPICS = 100
const MAX_SELECTED = 100
const MAX_PAGE = 1_000

export const CONNECTOR_TYPES = ['kafka', 'mqtt', 'sparkplug'] as const
export type ConnectorType = (typeof CONNECTOR_TYPES)[number]

const Text = Type.String()
const secret = closed(
  { vault: text(100, { minLength: 1, description: 'the name of a secret in the vault' }) },
  { title: 'SecretReference', description: 'a secret, by its name in the vault' },
)
export type SecretReference = Decoded<typeof secret>

const topics = Type.Array(text(1_000, { minLength: 1 }), {
  minItems: 1,
  maxItems: MAX_TOPICS,
  description: 'topics of Kafka, or filters of MQTT such as $share/hosts/plant/+/up',
})
const topic = text(1_000, {
  minLength: 1,
  description: 'the topic; the values of the item replace {resource}, {type} and {rule}',
})

const connection = closed(
  {
    brokers: Type.Optional(
      Type.Array(
        text(300, { pattern: String.raw`^(?:\[[0-9a-fA-F:.]+\]|[^\s:/\[\]]+):\d{1,5}$`, description: 'host:port' }),
        {
          minItems: 1,
          maxItems: MAX_BROKERS,
          description: 'of Kafka: addresses of brokers',
        },
      ),
    ),
    url: Type.Optional(
      text(500, { pattern: String.raw`^(?:mqtts?|wss?)://\S+$`, description: 'of MQTT: such as mqtts://broker:8883' }),
    ),
    clientId: Type.Optional(text(200, { minLength: 1, description: 'default: made from the tenant and the name' })),
    tls: Type.Optional(
      Type.Union([
        Type.Boolean(),
        closed(
          {
            ca: Type.Optional(secret),
            cert: Type.Optional(secret),
            key: Type.Optional(secret),
            serverName: Type.Optional(text(300, { minLength: 1 })),
          },
          { description: 'certificates in PEM form: of the authority, and of the client with its key' },
        ),
      ]),
    ),
    login: Type.Optional(
      closed({
        mechanism: Type.Optional(
          Type.Enum(['plain', 'scram-sha-256', 'scram-sha-512', 'oauthbearer'], { description: 'default plain' }),
        ),
        user: Type.Optional(text(500, { minLength: 1 })),
        password: Type.Optional(secret),
        token: Type.Optional(secret),
      }),
    ),
  },
  { title: 'BrokerConnection' },
)
/** Connection as stored: secrets are references. */
export type StoredConnection = Decoded<typeof connection>

const PLACE = String.raw`^(?:key|topic(?:/\d{1,2})?|header/[^/]{1,200}|(?:/.{0,300})?)$`
const place = (description: string) => text(310, { pattern: PLACE, description })
const map = closed(
  {
    resource: Type.Optional(
      place(
        'the resource: key, topic, topic/N (a level, from 0), header/NAME, or a JSON pointer; default key, and of MQTT topic',
      ),
    ),
    metrics: Type.Optional(
      text(300, { pattern: '^(?:/.*)?$', description: 'JSON pointer to the metrics; default: all' }),
    ),
    metric: Type.Optional(place('the metric of a payload that is a single value; default the name `value`')),
    timestamp: Type.Optional(
      place('the time: a JSON pointer, or header/NAME; default that of the record, or of the arrival'),
    ),
    unit: Type.Optional(Type.Enum(['ms', 's', 'us', 'ns'], { description: 'of numeric timestamps; default ms' })),
  },
  { title: 'RecordMapping' },
)
export type RecordMapping = Decoded<typeof map>

const COMMON = {
  type: Type.Enum([...CONNECTOR_TYPES]),
  connection,
  paused: Type.Optional(Type.Boolean({ description: 'default false; also set by pause and resume' })),
}
const SOURCE = {
  ...COMMON,
  topics,
  group: Type.Optional(text(200, { minLength: 1, description: 'of Kafka: default made from the tenant and the name' })),
  converter: Type.Optional(text(200, { minLength: 1, description: 'converts payloads; default: they are JSON' })),
  map: Type.Optional(map),
  start: Type.Optional(
    Type.Union([Type.Enum(['earliest', 'latest']), closed({ time: instant })], {
      description: 'where Kafka is read without a stored position; default latest',
    }),
  ),
}
const SINK = {
  ...COMMON,
  topic,
  select: closed(
    {
      items: Type.Enum(['messages', 'alarms', 'firings', 'commands'], {
        description: 'messages as posted, events of alarms, firings of rules, or commands',
      }),
      resources: Type.Optional(Type.Array(id, { minItems: 1, maxItems: MAX_SELECTED })),
      prefix: Type.Optional(text(200, { minLength: 1, description: 'of the ids of resources' })),
      types: Type.Optional(
        Type.Array(text(200, { minLength: 1 }), {
          minItems: 1,
          maxItems: MAX_SELECTED,
          description: 'types of alarms',
        }),
      ),
      rules: Type.Optional(
        Type.Array(text(200, { minLength: 1 }), {
          minItems: 1,
          maxItems: MAX_SELECTED,
          description: 'ids of tasks, for firings',
        }),
      ),
    },
    { title: 'SinkSelection' },
  ),
}

const SHOWN = readOnly(['name', 'status'])
const withoutUrl = {
  at: '/connection/brokers',
  message: 'is required',
  suggestion: 'name a broker, such as kafka:9092',
}
const withoutBrokers = {
  at: '/connection/url',
  message: 'is required',
  suggestion: 'name the broker, such as mqtt://broker:1883',
}

/** Finds problems that concern several fields. */
function problemsOf(value: unknown): readonly Problem[] {
  if (!isPlainObject(value) || !isPlainObject(value['connection'])) return []
  const { type, connection: found } = value
  const isKafka = type === 'kafka'
  const problems: Problem[] = []
  if (isKafka && found['brokers'] === undefined) problems.push(withoutUrl)
  if (!isKafka && type !== undefined && found['url'] === undefined) problems.push(withoutBrokers)
  const { login, tls } = found
  if (isPlainObject(login)) {
    const isToken = login['mechanism'] === 'oauthbearer'
    const needed = isToken ? ['token'] : isKafka ? ['user', 'password'] : ['user']
    for (const name of needed) {
      if (login[name] !== undefined) continue
      problems.push({ at: `/connection/login/${name}`, message: 'is required by this login' })
    }
  }
  if (isPlainObject(tls) && (tls['cert'] === undefined) !== (tls['key'] === undefined)) {
    problems.push({ at: '/connection/tls', message: 'has one of cert and key', suggestion: 'name both, or none' })
  }
  return problems
}

const configuration = <P extends TProperties>(fields: P, title: string) =>
  refined(closed({ ...fields, ...SHOWN }, { title }), problemsOf)

export const SourceConfiguration = checked(configuration(SOURCE, 'SourceConfiguration'), {
  subject: 'the source',
  type: 'CONNECTOR',
})
export const SinkConfiguration = checked(configuration(SINK, 'SinkConfiguration'), {
  subject: 'the sink',
  type: 'CONNECTOR',
})

const count = (description: string) => Type.Integer({ description })
export const StatusSchema = Type.Object(
  {
    state: Type.Enum(['paused', 'connecting', 'running', 'retrying'], {
      description: 'retrying: the last try failed, and another follows',
    }),
    lag: Type.Optional(Type.Integer({ description: 'records that wait at the broker, or here for a sink, if known' })),
    read: count('records read since it was created'),
    accepted: count('records that became messages, or that the broker acknowledged'),
    rejected: count('records that could not be used'),
    retried: count('tries after an error'),
    lastError: Type.Optional(Type.Object({ time: Text, message: Text })),
  },
  { title: 'ConnectorStatus' },
)
export interface ConnectorStatus extends Decoded<typeof StatusSchema> {}

export const SourceSchema = Type.Object({ name: Text, ...SOURCE, status: StatusSchema }, { title: 'Source' })
export const SinkSchema = Type.Object({ name: Text, ...SINK, status: StatusSchema }, { title: 'Sink' })
export interface SourceDocument extends Decoded<(typeof SourceConfiguration)['schema']> {}
export interface SinkDocument extends Decoded<(typeof SinkConfiguration)['schema']> {}
export interface Source extends Decoded<typeof SourceSchema> {}
export interface Sink extends Decoded<typeof SinkSchema> {}
export const SourcesSchema = Type.Object({ sources: Type.Array(SourceSchema) }, { title: 'Sources' })
export const SinksSchema = Type.Object({ sinks: Type.Array(SinkSchema) }, { title: 'Sinks' })

export const TestedSchema = Type.Object(
  {
    ok: Type.Boolean(),
    problem: Type.Optional(Text),
    found: Type.Optional(Type.Array(Text, { description: 'topics' })),
  },
  { title: 'ConnectorTested' },
)
export interface Tested extends Decoded<typeof TestedSchema> {}

const RejectedRecordSchema = Type.Object({
  id: Text,
  time: Text,
  record: Type.String({ description: 'where the broker has it, such as topic/partition/offset' }),
  topic: Text,
  key: Type.Optional(Text),
  error: Text,
  code: Text,
  payload: Text,
  encoding: Type.Enum(['utf8', 'base64']),
  tries: Type.Integer({ minimum: 1 }),
  truncated: Type.Optional(
    Type.Boolean({ description: 'true: too long to be kept whole, so that it cannot be tried again' }),
  ),
})
/** Base64 unless it is UTF-8; times are ISO 8601. */
export interface RejectedRecord extends Decoded<typeof RejectedRecordSchema> {}

export const REJECTED = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE, description: 'default 100' })),
  after: Type.Optional(Type.String({ description: 'items after the item with this id' })),
}
const RejectedQuerySchema = Type.Object(REJECTED)
export interface RejectedQuery extends Decoded<typeof RejectedQuerySchema> {}

export const RejectedSchema = Type.Object(
  {
    values: Type.Array(RejectedRecordSchema),
    next: Type.Optional(Type.String({ description: '`after` of the next page; absent on the last one' })),
    total: Type.Integer({ description: 'the latest thousand are kept' }),
  },
  { title: 'RejectedRecords' },
)
export interface RejectedList extends Decoded<typeof RejectedSchema> {}

export const Retry = checked(
  closed({ ids: Type.Optional(Type.Array(Text, { maxItems: MAX_PAGE })) }, { title: 'RejectedRecordsRetry' }),
  { subject: 'the retry' },
)
export const RetriedSchema = Type.Object(
  { accepted: Type.Array(Text), failed: Type.Array(Type.Object({ id: Text, error: Text })) },
  { title: 'RejectedRecordsRetried' },
)
/** Accepted records became messages, and are no longer listed. */
export interface Retried extends Decoded<typeof RetriedSchema> {}

export const ErrorSchema = Type.Object(
  { error: Text, code: Text, statusCode: Type.Integer(), details: Type.Optional(Type.Array(Text)) },
  { title: 'ConnectorError' },
)
