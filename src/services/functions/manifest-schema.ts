/** Schemas of manifests, used for checks and shown by `/schemas`. */
import { type TArray, type TSchema, type TStringOptions, Type } from 'typebox'
import { AppError, isPlainObject, makeIssue, refuse, shown } from '#kernel'
import { checked, closed, type Decoded, type Problem, refined, text } from '#services/shared/contract'
import { SECRET_NAME } from '#services/vault/contract'
import { FUNCTION_TYPES, type FunctionType, TYPE_NAMES } from './function-type.ts'
import { isRange, isVersion, VERSION } from './registry/versions.ts'

export const MAX_TAGS = 50
const DATA_TYPES = ['string', 'integer', 'long', 'float', 'double', 'boolean', 'object', 'array', 'any'] as const
const FORMATS = ['enum', 'resource', 'vault', 'duration', 'code', 'url', 'date', 'template'] as const

const longText = Type.Optional(text(10_000))
const address = Type.Optional(text(2_000))
const short = Type.Optional(text(200))
const flag = (description: string) => Type.Optional(Type.Boolean({ description }))
const texts = Type.Array(text(200), { maxItems: 100 })

function named<S extends TSchema>(item: S): TArray<S> {
  return refined(Type.Array(item, { maxItems: 100 }), (list) => {
    const items: readonly unknown[] = Array.isArray(list) ? list : []
    const names = items.map((one) => (isPlainObject(one) ? one['name'] : one))
    const twice = names.find((name, at) => typeof name === 'string' && names.indexOf(name) !== at)
    return twice === undefined ? [] : [{ message: `${shown(twice)} occurs twice` }]
  })
}

function known(what: string, isKnown: (value: string) => boolean, options: TStringOptions) {
  return refined(Type.String(options), (value) =>
    typeof value !== 'string' || isKnown(value) ? [] : [{ message: `${shown(value)} is not ${what}` }],
  )
}

const PropertySchema = closed({
  name: Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]{0,99}$' }),
  dataType: Type.Optional(Type.Enum(DATA_TYPES)),
  mandatory: Type.Optional(Type.Boolean()),
  format: Type.Optional(closed({ type: Type.Enum(FORMATS), values: Type.Optional(texts) })),
  defaultValue: Type.Optional(Type.Unknown()),
  description: address,
})
export interface DeclaredProperty extends Decoded<typeof PropertySchema> {}

export const TagSchema = closed(
  {
    name: Type.String({ minLength: 1, maxLength: 100, pattern: String.raw`^[^"\u0000-\u001f]+$` }),
    color: Type.Optional(Type.String({ pattern: '^#[0-9A-Fa-f]{6}$', description: 'such as #4153ea' })),
  },
  { title: 'Tag' },
)
const TagsSchema = Type.Array(Type.Union([TagSchema.properties.name, TagSchema]), { maxItems: MAX_TAGS })
export const Tags = checked(TagsSchema, { subject: 'the tags' })
export const TagsBody = checked(closed({ tags: TagsSchema }, { title: 'TagsOfFunction' }), { subject: 'the body' })
export type TagInput = Decoded<typeof TagsSchema>[number]

/** Fields for human readers. Unknown fields are kept, since tools of the original platform write some. */
const Described = Type.Object(
  {
    name: text(100),
    description: longText,
    examples: Type.Optional(Type.Array(Type.Unknown(), { maxItems: 20 })),
  },
  { additionalProperties: true },
)
const documented = Type.Optional(Type.Array(Described, { maxItems: 100 }))
const Example = closed({
  description: text(10_000),
  input: Type.Optional(Type.Unknown()),
  output: Type.Optional(Type.Unknown()),
  state: short,
})
const DocumentationSchema = closed(
  {
    description: longText,
    states: documented,
    input: documented,
    output: documented,
    examples: Type.Optional(Type.Array(Example, { maxItems: 20 })),
  },
  { title: 'Documentation of a plug' },
)
export const Documentation = checked(DocumentationSchema, { subject: 'the documentation' })

const METADATA = {
  author: short,
  description: longText,
  category: short,
  iconURL: address,
  tags: Type.Optional(TagsSchema),
}
const PLUG_METADATA = {
  ...METADATA,
  documentationURL: address,
  friendlyName: short,
  documentation: Type.Optional(DocumentationSchema),
}
const metadata = Type.Optional(closed(METADATA))
const plugMetadata = Type.Optional(closed(PLUG_METADATA))
const METADATA_TITLE = { title: 'Metadata of a function' }
const Metadata = checked(closed(METADATA, METADATA_TITLE), { subject: 'the metadata' })
const PlugMetadata = checked(closed(PLUG_METADATA, METADATA_TITLE), { subject: 'the metadata' })

export function metadataOf(type: FunctionType): typeof PlugMetadata {
  // the schema is a subset of the schema for plugs
  return type === 'plugs' ? PlugMetadata : (Metadata as typeof PlugMetadata)
}

const labels = Type.Optional(
  Type.Record(Type.String({ pattern: String.raw`^[^\u0000-\u001f]{1,200}$` }), text(1_000), { maxProperties: 50 }),
)
const CpuText = Type.String({
  pattern: String.raw`^(?:[1-9][0-9]{1,3}m|0\.[1-9][0-9]?|[1-9](?:\.[0-9])?)$`,
  description: 'thousandths of a core, such as 150m, or cores, such as 0.5',
})
const MemoryText = Type.String({
  pattern: '^(?:3[2-9]|[4-9][0-9]|[1-4][0-9]{2}|50[0-9]|51[0-2])Mi$',
  description: '32Mi to 512Mi',
})
const amounts = (description: string) =>
  Type.Optional(closed({ memory: Type.Optional(MemoryText), cpu: Type.Optional(CpuText) }, { description }))
const DeploySchema = refined(
  closed(
    {
      envVars: Type.Optional(
        Type.Record(Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]{0,99}$' }), text(4_000), {
          maxProperties: 50,
          description: 'environment of its processes',
        }),
      ),
      secrets: Type.Optional(
        Type.Array(Type.String({ pattern: SECRET_NAME }), {
          maxItems: 50,
          uniqueItems: true,
          description: 'names of secrets in the vault, which its processes receive as environment variables',
        }),
      ),
      labels,
      annotations: labels,
      limits: amounts('memory of each process, and CPU time of all processes, of which half a minute accumulates'),
      requests: amounts('stored and shown, without effect on this host'),
    },
    { title: 'Deployment of a function' },
  ),
  (value) => {
    const { secrets, envVars } = partsOf(value)
    const names: readonly unknown[] = Array.isArray(secrets) ? secrets : []
    const both = names.find((name) => typeof name === 'string' && Object.hasOwn(partsOf(envVars), name))
    return both === undefined ? [] : [{ at: '/secrets', message: `${shown(both)} is also in envVars` }]
  },
)

const COMMON = {
  $schema: Type.Optional(text(2_000, { description: 'for editors; ignored by the host' })),
  name: Type.String({ pattern: '^[A-Za-z][A-Za-z0-9_-]{0,99}$', description: 'name of the function' }),
  version: Type.Optional(
    known('major.minor.patch', isVersion, {
      pattern: VERSION.source,
      description: 'major.minor.patch; default: the next version',
    }),
  ),
  runtime: text(100),
  runtimeVersion: Type.Optional(known('a range of versions', isRange, { maxLength: 100, description: 'a range' })),
  deploy: Type.Optional(DeploySchema),
  protected: flag('true: only its owner can read its assets'),
  tags: Type.Optional(TagsSchema),
}

const PLUG = {
  ...COMMON,
  type: Type.Enum(['sensor', 'actuator']),
  interface: closed({
    states: Type.Optional(named(text(200))),
    input: Type.Optional(named(PropertySchema)),
    output: Type.Optional(named(PropertySchema)),
  }),
  metadata: plugMetadata,
}
const WEBSCRIPT = {
  ...COMMON,
  metadata,
  private: flag('default true: callers need credentials'),
  allowHmac: flag('default true: its secret is accepted as credentials'),
}
const MODEL = {
  ...COMMON,
  name: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$', description: 'name of the function' }),
  metadata,
}

export const PlugManifestSchema = refined(closed(PLUG, { title: 'Manifest of a plug' }), (value) => {
  const { type, interface: declared } = partsOf(value)
  const { states } = partsOf(declared)
  const isStateless = type !== 'actuator' || !Array.isArray(states) || states.length === 0
  return isStateless ? [] : [{ at: '/interface/states', message: 'an actuator has no states' }]
})
export const WebscriptManifestSchema = closed(WEBSCRIPT, { title: 'Manifest of a webscript' })
export const ModelManifestSchema = refined(closed(MODEL, { title: 'Manifest of a model' }), (value): Problem[] => {
  const { secrets } = partsOf(partsOf(value)['deploy'])
  if (!Array.isArray(secrets) || secrets.length === 0) return []
  return [{ at: '/deploy/secrets', message: 'a model cannot have secrets' }]
})

function partsOf(value: unknown): Readonly<Record<string, unknown>> {
  return isPlainObject(value) ? value : {}
}

const inFile = (type: FunctionType) => ({ subject: TYPE_NAMES[type].manifestFile, type: 'MANIFEST' })
const MANIFESTS = {
  plugs: checked(PlugManifestSchema, inFile('plugs')),
  webscripts: checked(WebscriptManifestSchema, inFile('webscripts')),
  models: checked(ModelManifestSchema, inFile('models')),
}
const partial = <S extends TSchema>(type: FunctionType, schema: S) =>
  checked(Type.Partial(schema, { title: `Part of a manifest of ${type}` }), inFile(type))
export const MANIFEST_PATCHES = {
  plugs: partial('plugs', closed(PLUG)),
  webscripts: partial('webscripts', closed(WEBSCRIPT)),
  models: partial('models', closed(MODEL)),
}

const DeployBody = closed({ deploy: Type.Optional(DeploySchema) })
export const RebuildBody = checked(DeployBody, { subject: 'the body' })

export const SCHEMAS: ReadonlyMap<string, TSchema> = new Map<string, TSchema>([
  ...FUNCTION_TYPES.map((type) => [`${type}-manifest`, MANIFESTS[type].schema] as const),
  ...FUNCTION_TYPES.map((type) => [`${type}-metadata`, metadataOf(type).schema] as const),
  ['plugs-documentation', DocumentationSchema],
  ['deploy', DeploySchema],
  ['tags', TagsSchema],
])

export type PlugManifest = Decoded<typeof PlugManifestSchema>

export type Manifest = Omit<Decoded<typeof ModelManifestSchema>, 'metadata'> &
  Partial<Pick<PlugManifest, 'type' | 'interface' | 'metadata'>> &
  Partial<Pick<Decoded<typeof WebscriptManifestSchema>, 'private' | 'allowHmac'>>

const MAX_BYTES = 262_144

export function readManifestFile(type: FunctionType, bytes: Uint8Array | undefined): Readonly<Record<string, unknown>> {
  const { manifestFile } = TYPE_NAMES[type]
  if (bytes === undefined) throw new AppError('VALIDATION', `the assets have no ${manifestFile}`)
  const wrongFile = (message: string): AppError => refuse(manifestFile, [makeIssue('MANIFEST', '', message)])
  if (bytes.length > MAX_BYTES) throw wrongFile(`is larger than ${MAX_BYTES} bytes`)
  let read: unknown
  try {
    read = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw wrongFile('is not JSON in UTF-8')
  }
  if (!isPlainObject(read)) throw wrongFile('must be object')
  return read
}

export function readManifest(type: FunctionType, bytes: Uint8Array | undefined): Manifest {
  return checkManifest(type, readManifestFile(type, bytes))
}

export function checkManifest(type: FunctionType, read: unknown): Manifest {
  const manifest: Manifest = MANIFESTS[type].read(read)
  if (type !== 'webscripts') return manifest
  return { ...manifest, private: manifest.private ?? true, allowHmac: manifest.allowHmac ?? true }
}
