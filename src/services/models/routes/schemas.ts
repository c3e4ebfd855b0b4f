/** The shapes of the service for its API page. */
import { Type, type TSchema } from 'typebox'
import { FRAMEWORKS, OPERATIONS, REMOTE_PROTOCOLS } from '../contract.ts'

const Text = Type.String()
const FrameworkName = Type.Enum([...FRAMEWORKS])
const Operation = Type.Enum([...OPERATIONS])

export const ErrorSchema = Type.Object(
  { error: Text, code: Text, statusCode: Type.Integer(), details: Type.Optional(Type.Array(Text)) },
  { title: 'ModelError' },
)
const Remote = Type.Object(
  {
    url: Type.String({ description: 'http or https, up to what comes before /v1 or /v2' }),
    protocol: Type.Enum([...REMOTE_PROTOCOLS], {
      description: 'v1: as TensorFlow Serving and KServe; v2: the Open Inference Protocol, as MLServer and Triton',
    }),
    model: Type.Optional(Type.String({ description: 'how the server calls it; default its name here' })),
    headers: Type.Optional(
      Type.Record(Text, Text, {
        description: 'sent with each request; shown sealed, and what is shown may be sent back',
      }),
    ),
  },
  { title: 'ServerOfModel' },
)
export const ModelSchema = Type.Object(
  {
    name: Text,
    framework: FrameworkName,
    framework_version: Type.Optional(Type.String({ description: 'of the library that runs it' })),
    description: Text,
    version: Type.String({ description: 'counts the uploads of the name' }),
    semantic_version: Type.Optional(Type.String({ description: 'its version in the function registry' })),
    ready: Type.Boolean(),
    failure: Type.Optional(Type.String({ description: 'why it is not ready' })),
    remote: Type.Optional(Remote),
    warnings: Type.Optional(Type.Array(Text)),
    supported_endpoints: Type.Array(Operation, { description: 'empty until it is ready' }),
    createdBy: Text,
    createdOn: Text,
    updatedBy: Text,
    updatedOn: Text,
  },
  { title: 'HostedModel' },
)
export const ModelsSchema = Type.Object({ available_models: Type.Array(ModelSchema) }, { title: 'HostedModels' })
export const ChangedModelSchema = Type.Object(
  {
    message: Text,
    name: Text,
    framework: FrameworkName,
    description: Text,
    version: Text,
    ready: Type.Optional(
      Type.Boolean({ description: 'of an upload: false while it is loaded, and when nothing runs it' }),
    ),
    failure: Type.Optional(Type.String({ description: 'why it will not be ready' })),
  },
  { title: 'ChangedModel' },
)
const File = Type.Unsafe<Uint8Array>({ type: 'string', format: 'binary', description: 'a zip with the model' })
const Fields = {
  file: File,
  framework: Type.String({ description: `one of ${FRAMEWORKS.join(', ')}` }),
  description: Type.Optional(Text),
}
const RemoteFields = {
  framework: Type.Optional(Type.String({ description: `one of ${FRAMEWORKS.join(', ')}; default custom` })),
  description: Type.Optional(Text),
  remote: Remote,
}
const Name = Type.Optional(Text)
export const UploadSchema = formOrJson(
  Type.Object({ name: Text, ...Fields }, { title: 'ModelUpload' }),
  Type.Object({ name: Text, ...RemoteFields }, { title: 'RemoteModel' }),
)
export const ReplacementSchema = formOrJson(
  Type.Object({ name: Name, ...Fields }, { title: 'ModelReplacement' }),
  Type.Object({ name: Name, ...RemoteFields }, { title: 'RemoteReplacement' }),
)

/** A model with its files, or the server that has it. */
function formOrJson(form: TSchema, json: TSchema): TSchema {
  return Type.Unsafe<unknown>({
    content: { 'multipart/form-data': { schema: form }, 'application/json': { schema: json } },
  })
}
export const PatchSchema = Type.Object(
  {
    description: Type.Optional(Text),
    metadata: Type.Optional(Type.Object({ description: Text }, { description: 'the same, as later clients send it' })),
  },
  { title: 'ModelChange' },
)
export const Zip = Type.Unsafe<Uint8Array>({ type: 'string', format: 'binary' })

const Members = Type.Object({}, { additionalProperties: true })
export const ExamplesSchema = Type.Array(Type.Object({ endpoint: Operation, payload: Members }), {
  title: 'ModelExamples',
})

const Signature = Type.Optional(Type.String({ description: 'of a model of tensorflow; default serving_default' }))
export const PredictSchema = Type.Object(
  {
    instances: Type.Optional(
      Type.Array(Type.Unknown(), {
        description: 'a list of numbers each; of xgboost and tensorflow also named features',
      }),
    ),
    inputs: Type.Optional(Type.Unknown({ description: 'the same by column, in the place of instances' })),
    signature_name: Signature,
    probabilities: Type.Optional(Type.Boolean({ description: 'of a model of sklearn: those of its classes' })),
  },
  { title: 'PredictRequest' },
)
export const PredictedSchema = Type.Object(
  { predictions: Type.Optional(Type.Array(Type.Unknown())), outputs: Type.Optional(Type.Unknown()) },
  { title: 'Predicted' },
)
export const ExamplesRequestSchema = Type.Object(
  {
    examples: Type.Array(Members, { description: 'named features each' }),
    context: Type.Optional(Type.Object({}, { additionalProperties: true, description: 'features that all share' })),
    signature_name: Signature,
  },
  { title: 'ModelExamplesRequest' },
)
export const ClassifiedSchema = Type.Object(
  { result: Type.Array(Type.Array(Type.Array(Type.Unknown(), { description: 'a label and its score' }))) },
  { title: 'Classified' },
)
export const RegressedSchema = Type.Object({ result: Type.Array(Type.Number()) }, { title: 'Regressed' })

const Runtime = Type.Object({
  name: Text,
  driver: Text,
  framework: FrameworkName,
  framework_version: Text,
  python_version: Type.Optional(Text),
})
export const FrameworkSchema = Type.Object(
  {
    framework: FrameworkName,
    versions: Type.Array(Text),
    default_runtime: Type.Optional(Runtime),
    runtimes: Type.Array(Runtime),
  },
  { title: 'Framework' },
)
export const FrameworksSchema = Type.Object({ frameworks: Type.Array(FrameworkSchema) }, { title: 'Frameworks' })
