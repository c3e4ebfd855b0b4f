/** Schemas of hosted models, uploads and calls, with limits. */
import { type TCodec, type TSchema, Type } from 'typebox'
import { at, isPlainObject, type JsonObject, ownValue, shown } from '#kernel'
import {
  type Checked,
  CHECKED,
  checked,
  closed,
  CONNECTION_HEADERS,
  type Decoded,
  type Problem,
  readOnly,
  refined,
  secret,
  text,
  worded,
} from '#services/shared/contract'
import { ALIASES, type Framework, frameworkOf, FRAMEWORKS, OPERATIONS, REMOTE_PROTOCOLS } from './frameworks.ts'

const NAME = '^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$'
const MAX_DESCRIPTION = 10_000
const MAX_URL = 2_000
const URL_START = String.raw`^\s*[Hh][Tt][Tt][Pp][Ss]?:`
const PART = String.raw`(?!\.{1,2}(?:/|$))[^/?#\u0000-\u001f\u007f-\u009f]`
const REMOTE_MODEL = `^${PART}{1,200}(?:/versions/${PART}{1,50})?$`
const MAX_HEADERS = 20
const HEADER = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/
const MAX_VALUE = 8_000
const LINE = String.raw`^[\t\x20-\x7e\x80-\xff]*$`
/** Headers that follow from the request itself, so users cannot set them. */
const DECIDED: ReadonlySet<string> = new Set([
  ...CONNECTION_HEADERS,
  'accept',
  'accept-encoding',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
])
const MAX_SIGNATURE = 200

const Text = Type.String()
const FrameworkName = Type.Enum(FRAMEWORKS)
const Operation = Type.Enum(OPERATIONS)
const Members = Type.Unsafe<JsonObject>(Type.Object({}, { additionalProperties: true }))
const FEATURES = { additionalProperties: true, ...CHECKED }

export const ErrorSchema = Type.Object(
  { error: Text, code: Text, statusCode: Type.Integer(), details: Type.Optional(Type.Array(Text)) },
  { title: 'ModelError' },
)

function ofPattern(pattern: string, right: string, options: object = {}) {
  const test = new RegExp(pattern, 'u')
  return worded(Type.String({ pattern, ...options }), (value) =>
    typeof value === 'string' && test.test(value) ? [] : [{ message: `is ${shown(value)}`, suggestion: right }],
  )
}

const name = ofPattern(NAME, 'write 1 to 100 letters, digits and . _ -, a letter or digit first')
const anyCase = [...ALIASES.keys()].map((one) => one.replaceAll(/[a-z]/g, (a) => `[${a}${a.toUpperCase()}]`))
const frameworkNames = FRAMEWORKS.join(', ')
// the pattern excludes unknown frameworks
const framework: TCodec<TSchema, Framework> = Type.Decode(
  ofPattern(String.raw`^\s*(?:${anyCase.join('|')})\s*$`, `write one of ${frameworkNames}`, {
    description: `one of ${frameworkNames}`,
  }),
  (value) => frameworkOf(value) ?? 'custom',
)
const description = text(MAX_DESCRIPTION)

function urlProblems(value: unknown): readonly Problem[] {
  const url = typeof value === 'string' && value.length <= MAX_URL && URL.canParse(value) ? new URL(value) : undefined
  const is = `is ${shown(value)}`
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    return [{ message: is, suggestion: 'write an http or https address such as https://models.example.com' }]
  // the value is not shown, since it is secret
  if (url.username !== '' || url.password !== '')
    return [{ message: 'contains a user or password', suggestion: 'use the header Authorization instead' }]
  if (url.search !== '' || url.hash !== '')
    return [{ message: is, suggestion: 'write it without a query, up to the part before /v1 or /v2' }]
  if (!/\/v[12](?:\/models.*)?$/.test(url.pathname)) return []
  return [{ message: is, suggestion: 'write the part before /v1 or /v2; name the model in `model`' }]
}

const URL_DESCRIPTION = 'http or https, up to the part before /v1 or /v2'
const url = Type.Decode(
  refined(Type.String({ maxLength: MAX_URL, pattern: URL_START, description: URL_DESCRIPTION }), urlProblems),
  (value) => {
    const { origin, pathname } = new URL(value)
    return origin + pathname.replace(/\/$/, '')
  },
)

const header = worded(
  secret(MAX_VALUE, {
    pattern: LINE,
    description: `at most ${MAX_VALUE} characters, or the encrypted text that is shown`,
  }),
  (value) =>
    typeof value === 'string' && new RegExp(LINE).test(value)
      ? []
      : [{ message: 'is not one line of text', suggestion: `send at most ${MAX_VALUE} characters` }],
)
const headers = refined(
  Type.Unsafe<Readonly<Record<string, string>>>(
    Type.Record(Text, header, {
      maxProperties: MAX_HEADERS,
      description: 'sent with each request; shown encrypted, and accepted in that form',
    }),
  ),
  (headers) => {
    const names = isPlainObject(headers) ? Object.keys(headers) : []
    if (names.length > MAX_HEADERS)
      return [{ message: `has ${names.length} headers`, suggestion: `send at most ${MAX_HEADERS}` }]
    return names
      .filter((one) => !HEADER.test(one) || DECIDED.has(one.toLowerCase()))
      .map((one) => ({
        at: at('', one.slice(0, 100)),
        message: 'cannot be set',
        suggestion: 'use a header such as Authorization',
      }))
  },
)

const RemoteSchema = closed(
  {
    url,
    protocol: Type.Enum(REMOTE_PROTOCOLS, {
      description: 'v1: as TensorFlow Serving and KServe; v2: the Open Inference Protocol, as MLServer and Triton',
    }),
    model: Type.Optional(
      ofPattern(REMOTE_MODEL, 'write its name, or name/versions/2', {
        description: 'name on the server, such as heat or heat/versions/2; default: its name on this host',
      }),
    ),
    headers: Type.Optional(headers),
  },
  { title: 'ServerOfModel' },
)
export interface RemoteModel extends Decoded<typeof RemoteSchema> {}

export const ModelSchema = Type.Object(
  {
    name: Text,
    framework: FrameworkName,
    framework_version: Type.Optional(Type.String({ description: 'version of the library that runs it' })),
    description: Text,
    version: Type.String({ description: 'number of uploads under this name' }),
    semantic_version: Type.Optional(Type.String({ description: 'its version in the function registry' })),
    ready: Type.Boolean(),
    failure: Type.Optional(Type.String({ description: 'reason why it is not ready' })),
    remote: Type.Optional(
      Type.Object({
        url: Text,
        protocol: Type.Enum(REMOTE_PROTOCOLS),
        model: Text,
        headers: Type.Unsafe<Readonly<Record<string, string>>>(Type.Record(Text, Text, { description: 'sealed' })),
      }),
    ),
    warnings: Type.Optional(Type.Array(Text)),
    supported_endpoints: Type.Array(Operation, { description: 'empty until it is ready' }),
    createdBy: Text,
    createdOn: Text,
    updatedBy: Text,
    updatedOn: Text,
  },
  { title: 'HostedModel' },
)
export interface ModelInfo extends Decoded<typeof ModelSchema> {}
export const ModelsSchema = Type.Object({ available_models: Type.Array(ModelSchema) }, { title: 'HostedModels' })
export const ChangedModelSchema = Type.Object(
  {
    message: Text,
    name: Text,
    framework: FrameworkName,
    description: Text,
    version: Text,
    ready: Type.Optional(Type.Boolean({ description: 'false while it is loading, and if this host cannot run it' })),
    failure: Type.Optional(Type.String({ description: 'reason why it will not be ready' })),
  },
  { title: 'ChangedModel' },
)

export const Zip = Type.Unsafe<Uint8Array>({ type: 'string', format: 'binary', description: 'a zip with the model' })
const file = refined(Type.Unsafe<Uint8Array>({}), (bytes) =>
  bytes instanceof Uint8Array && bytes.length > 0
    ? []
    : [{ message: 'is missing', suggestion: 'send the model as a zip' }],
)
const UNREAD = Type.Optional(Type.Unknown({ description: 'sent by newer clients; ignored' }))
const FORM = { framework, description: Type.Optional(description), framework_version: UNREAD, metadata: UNREAD }
const JSON_FIELDS = {
  framework: Type.Optional(framework),
  description: Type.Optional(description),
  remote: RemoteSchema,
}
const Name = { name: Type.Optional(Type.String({ description: 'ignored; the name in the path applies' })) }
const SHOWN = readOnly(Object.keys(ModelSchema.properties).filter((one) => one !== 'name' && !(one in JSON_FIELDS)))

function remoteProblems(body: unknown): readonly Problem[] {
  if (ownValue(body, 'remote') !== undefined) return []
  const suggestion = 'set remote, or send multipart/form-data with file, framework and name'
  return [{ at: '/remote', message: 'is missing', suggestion }]
}

function upload<F extends TSchema, J extends TSchema>(form: F, shownForm: TSchema, json: J) {
  const about = { subject: 'the upload', type: 'UPLOAD' }
  const [ofForm, ofJson] = [checked(form, about), checked(refined(json, remoteProblems), about)]
  const content = { 'multipart/form-data': { schema: shownForm }, 'application/json': { schema: json } }
  const schema = Type.Unsafe<Decoded<F> | Decoded<J>>({ content })
  const read = (value: unknown) => (ownValue(value, 'file') instanceof Uint8Array ? ofForm : ofJson).read(value)
  return { schema, read } as Checked<typeof schema>
}

const FormSchema = closed({ name, ...FORM, file })
const JsonSchema = closed({ name, ...JSON_FIELDS }, { title: 'RemoteModel' })
export const Upload = upload(FormSchema, closed({ name, ...FORM, file: Zip }, { title: 'ModelUpload' }), JsonSchema)
export type Upload = Decoded<typeof FormSchema> | Decoded<typeof JsonSchema>
export const Replacement = upload(
  closed({ ...Name, ...FORM, file }),
  closed({ ...Name, ...FORM, file: Zip }, { title: 'ModelReplacement' }),
  closed({ ...Name, ...JSON_FIELDS, ...SHOWN }, { title: 'RemoteReplacement' }),
)

const CHANGE = 'send {"description": "..."}; upload a file to change predictions'
const ChangeSchema = refined(
  closed(
    {
      description: Type.Optional(description),
      metadata: Type.Optional(
        closed(
          { description: Type.Optional(Object.assign(text(MAX_DESCRIPTION), CHECKED)) },
          { description: 'alias sent by newer clients' },
        ),
      ),
    },
    { title: 'ModelChange', minProperties: 1 },
  ),
  (body) => {
    const [outer, inner] = [ownValue(body, 'description'), ownValue(ownValue(body, 'metadata'), 'description')]
    if (outer === undefined && inner === undefined)
      return [{ at: '/description', message: 'is missing', suggestion: CHANGE }]
    if (outer === undefined || inner === undefined) return []
    return [{ at: '/metadata/description', message: 'occurs twice', suggestion: 'omit one of them' }]
  },
)
export const ModelChange = checked(ChangeSchema, { subject: 'the change', type: 'PATCH' })
export interface ModelChange extends Decoded<typeof ChangeSchema> {}

const Signature = Type.Optional(
  text(MAX_SIGNATURE, { minLength: 1, description: 'for TensorFlow models; default serving_default', ...CHECKED }),
)
const PredictSchema = refined(
  closed(
    {
      instances: Type.Optional(
        Type.Array(Type.Unknown(), {
          minItems: 1,
          description: 'each a list of numbers; for XGBoost and TensorFlow also named features',
        }),
      ),
      inputs: Type.Optional(Type.Unknown({ description: 'the same by column, instead of instances' })),
      signature_name: Signature,
      probabilities: Type.Optional(
        Type.Boolean({ description: 'for scikit-learn models: the probabilities of the classes' }),
      ),
    },
    { title: 'PredictRequest', minProperties: 1 },
  ),
  (body) => {
    const [instances, inputs] = [ownValue(body, 'instances'), ownValue(body, 'inputs')]
    if (instances === undefined && inputs === undefined)
      return [{ at: '/instances', message: 'is missing, and must be a list', suggestion: 'send {"instances": [...]}' }]
    if (instances === undefined || inputs === undefined) return []
    return [{ at: '/inputs', message: 'is set, as is instances', suggestion: 'send one of them' }]
  },
)
export const PredictRequest = checked(PredictSchema, { subject: 'the request', type: 'CALL' })
export interface PredictRequest extends Decoded<typeof PredictSchema> {}

const Features = Type.Unsafe<readonly JsonObject[]>(
  Type.Array(Type.Object({}, FEATURES), { minItems: 1, description: 'each with named features' }),
)
const ExamplesRequestSchema = closed(
  {
    examples: Features,
    context: Type.Optional(
      Type.Unsafe<JsonObject>(Type.Object({}, { ...FEATURES, description: 'features that all examples share' })),
    ),
    signature_name: Signature,
  },
  { title: 'ModelExamplesRequest' },
)
export const ExamplesRequest = checked(ExamplesRequestSchema, { subject: 'the request', type: 'CALL' })
export interface ExamplesRequest extends Decoded<typeof ExamplesRequestSchema> {}

export const PredictedSchema = Type.Object(
  { predictions: Type.Optional(Type.Array(Type.Unknown())), outputs: Type.Optional(Type.Unknown()) },
  { title: 'Predicted' },
)
export const ClassifiedSchema = Type.Object(
  { result: Type.Array(Type.Array(Type.Array(Type.Unknown(), { description: 'a label and its score' }))) },
  { title: 'Classified' },
)
export const RegressedSchema = Type.Object({ result: Type.Array(Type.Number()) }, { title: 'Regressed' })
const ExampleSchema = Type.Object({ endpoint: Operation, payload: Members })
export interface ModelExample extends Decoded<typeof ExampleSchema> {}
export const ExamplesSchema = Type.Array(ExampleSchema, { title: 'ModelExamples' })

const RuntimeSchema = Type.Object({
  name: Text,
  driver: Text,
  framework: FrameworkName,
  framework_version: Text,
  python_version: Type.Optional(Text),
})
export interface RuntimeInfo extends Decoded<typeof RuntimeSchema> {}
export const FrameworkSchema = Type.Object(
  {
    framework: FrameworkName,
    versions: Type.Array(Text),
    default_runtime: Type.Optional(RuntimeSchema),
    runtimes: Type.Array(RuntimeSchema),
  },
  { title: 'Framework' },
)
export interface FrameworkInfo extends Decoded<typeof FrameworkSchema> {}
export const FrameworksSchema = Type.Object({ frameworks: Type.Array(FrameworkSchema) }, { title: 'Frameworks' })
