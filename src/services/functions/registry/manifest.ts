/** What a function says about itself: the schemas, which the check and `/schemas` share, and what more must hold. */
import { Type, type Static, type TSchema } from 'typebox'
import { Errors } from 'typebox/value'
import { AppError, isPlainObject, type Issue, makeIssue, validationError } from '#kernel'
import { SECRET_NAME } from '#services/vault/contract'
import { FUNCTION_TYPES, type FunctionType, TYPE_NAMES } from '../function-type.ts'
import { isRange, isVersion } from './versions.ts'

const closed = { additionalProperties: false } as const
const Texts = Type.Array(Type.String({ maxLength: 200 }), { maxItems: 100 })
const DATA_TYPES = ['string', 'integer', 'long', 'float', 'double', 'boolean', 'object', 'array', 'any'] as const
const FORMATS = ['enum', 'resource', 'vault', 'duration', 'code', 'url', 'date', 'template'] as const

const PropertySchema = Type.Object(
  {
    name: Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]{0,99}$' }),
    dataType: Type.Optional(Type.Enum([...DATA_TYPES])),
    mandatory: Type.Optional(Type.Boolean()),
    format: Type.Optional(Type.Object({ type: Type.Enum([...FORMATS]), values: Type.Optional(Texts) }, closed)),
    defaultValue: Type.Optional(Type.Unknown()),
    description: Type.Optional(Type.String({ maxLength: 2_000 })),
  },
  closed,
)

export const TagSchema = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 100, pattern: '^[^"\\u0000-\\u001f]+$' }),
    color: Type.Optional(Type.String({ pattern: '^#[0-9A-Fa-f]{6}$', description: 'such as #4153ea' })),
  },
  { ...closed, title: 'Tag' },
)
/** Tags, or their names. */
export const TagsSchema = Type.Array(Type.Union([TagSchema.properties.name, TagSchema]), { maxItems: 50 })

/** For readers alone: other members, such as those that tools of the platform write, are kept as they are. */
const Described = Type.Object(
  {
    name: Type.String({ maxLength: 100 }),
    description: Type.Optional(Type.String({ maxLength: 10_000 })),
    examples: Type.Optional(Type.Array(Type.Unknown(), { maxItems: 20 })),
  },
  { additionalProperties: true },
)
const Documented = Type.Optional(Type.Array(Described, { maxItems: 100 }))
export const DocumentationSchema = Type.Object(
  {
    description: Type.Optional(Type.String({ maxLength: 10_000 })),
    states: Documented,
    input: Documented,
    output: Documented,
    examples: Type.Optional(
      Type.Array(
        Type.Object(
          {
            description: Type.String({ maxLength: 10_000 }),
            input: Type.Optional(Type.Unknown()),
            output: Type.Optional(Type.Unknown()),
            state: Type.Optional(Type.String({ maxLength: 200 })),
          },
          closed,
        ),
        { maxItems: 20 },
      ),
    ),
  },
  { ...closed, title: 'Documentation of a plug' },
)

const METADATA = {
  author: Type.Optional(Type.String({ maxLength: 200 })),
  description: Type.Optional(Type.String({ maxLength: 10_000 })),
  category: Type.Optional(Type.String({ maxLength: 200 })),
  iconURL: Type.Optional(Type.String({ maxLength: 2_000 })),
  tags: Type.Optional(TagsSchema),
}
const PLUG_METADATA = {
  ...METADATA,
  documentationURL: Type.Optional(Type.String({ maxLength: 2_000 })),
  friendlyName: Type.Optional(Type.String({ maxLength: 200 })),
  documentation: Type.Optional(DocumentationSchema),
}
export const MetadataSchema = Type.Object(METADATA, closed)
export const PlugMetadataSchema = Type.Object(PLUG_METADATA, closed)

const Labels = Type.Optional(
  Type.Record(Type.String({ pattern: '^[^\\u0000-\\u001f]{1,200}$' }), Type.String({ maxLength: 1_000 }), {
    maxProperties: 50,
  }),
)
const CpuText = Type.String({
  pattern: '^(?:[1-9][0-9]{1,3}m|0\\.[1-9][0-9]?|[1-9](?:\\.[0-9])?)$',
  description: 'thousandths of a core, such as 150m, or cores, such as 0.5',
})
const MemoryText = Type.String({
  pattern: '^(?:3[2-9]|[4-9][0-9]|[1-4][0-9]{2}|50[0-9]|51[0-2])Mi$',
  description: '32Mi to 512Mi',
})
const amounts = (description: string) =>
  Type.Optional(
    Type.Object({ memory: Type.Optional(MemoryText), cpu: Type.Optional(CpuText) }, { ...closed, description }),
  )
export const DeploySchema = Type.Object(
  {
    envVars: Type.Optional(
      Type.Record(Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]{0,99}$' }), Type.String({ maxLength: 4_000 }), {
        maxProperties: 50,
        description: 'the environment of its processes',
      }),
    ),
    secrets: Type.Optional(
      Type.Array(Type.String({ pattern: SECRET_NAME }), {
        maxItems: 50,
        uniqueItems: true,
        description: 'names in the vault: each is a variable of the environment of its processes, with that value',
      }),
    ),
    labels: Labels,
    annotations: Labels,
    limits: amounts('memory of each process, and CPU time of all of them; half a minute of that is saved up'),
    requests: amounts('kept and shown; nothing is set aside for a function on this host'),
  },
  { ...closed, title: 'Deployment of a function' },
)

const COMMON = {
  $schema: Type.Optional(Type.String({ maxLength: 2_000, description: 'for editors; nothing is read from there' })),
  name: Type.String({ pattern: '^[A-Za-z][A-Za-z0-9_-]{0,99}$', description: 'what it is called by' }),
  version: Type.Optional(Type.String({ description: 'major.minor.patch; without it the next one' })),
  runtime: Type.String({ maxLength: 100 }),
  runtimeVersion: Type.Optional(Type.String({ maxLength: 100, description: 'a range' })),
  deploy: Type.Optional(DeploySchema),
  protected: Type.Optional(Type.Boolean({ description: 'true: its owner alone reads its assets' })),
  tags: Type.Optional(TagsSchema),
}

export const PlugManifestSchema = Type.Object(
  {
    ...COMMON,
    type: Type.Enum(['sensor', 'actuator']),
    interface: Type.Object(
      {
        states: Type.Optional(Texts),
        input: Type.Optional(Type.Array(PropertySchema, { maxItems: 100 })),
        output: Type.Optional(Type.Array(PropertySchema, { maxItems: 100 })),
      },
      closed,
    ),
    metadata: Type.Optional(PlugMetadataSchema),
  },
  { ...closed, title: 'Manifest of a plug' },
)

export const WebscriptManifestSchema = Type.Object(
  {
    ...COMMON,
    metadata: Type.Optional(MetadataSchema),
    private: Type.Optional(Type.Boolean({ description: 'default true: whoever calls it has to show credentials' })),
    allowHmac: Type.Optional(Type.Boolean({ description: 'default true: its secret is one of them' })),
  },
  { ...closed, title: 'Manifest of a webscript' },
)

export const ModelManifestSchema = Type.Object(
  {
    ...COMMON,
    name: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$', description: 'what it is called by' }),
    metadata: Type.Optional(MetadataSchema),
  },
  { ...closed, title: 'Manifest of a model' },
)

/** Of what belongs to each type. */
export const MANIFEST_SCHEMAS = {
  plugs: PlugManifestSchema,
  webscripts: WebscriptManifestSchema,
  models: ModelManifestSchema,
} as const

/** By their ids in `/schemas`. */
export const SCHEMAS: ReadonlyMap<string, TSchema> = new Map<string, TSchema>([
  ...FUNCTION_TYPES.map((type) => [`${type}-manifest`, MANIFEST_SCHEMAS[type]] as const),
  ['plugs-metadata', PlugMetadataSchema],
  ['webscripts-metadata', MetadataSchema],
  ['models-metadata', MetadataSchema],
  ['plugs-documentation', DocumentationSchema],
  ['deploy', DeploySchema],
  ['tags', TagsSchema],
])

export type PlugManifest = Static<typeof PlugManifestSchema>
type WebscriptManifest = Static<typeof WebscriptManifestSchema>
type ModelManifest = Static<typeof ModelManifestSchema>

/** The manifest of a function of any type: what another type has is not there. */
export type Manifest = ModelManifest &
  Partial<Pick<PlugManifest, 'type' | 'interface'>> & { readonly metadata?: PlugManifest['metadata'] } & Partial<
    Pick<WebscriptManifest, 'private' | 'allowHmac'>
  >

const MAX_BYTES = 262_144

/** A manifest before it is checked. `VALIDATION` when it is not there or no JSON object. */
export function readManifestFile(type: FunctionType, bytes: Uint8Array | undefined): Readonly<Record<string, unknown>> {
  const { manifestFile } = TYPE_NAMES[type]
  if (bytes === undefined) throw new AppError('VALIDATION', `there is no ${manifestFile} among the assets`)
  const wrongFile = (message: string): AppError => validationError(manifestFile, [wrong('', message)])
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

/** A manifest that holds. `VALIDATION` with all problems, their places in the file. */
export function readManifest(type: FunctionType, bytes: Uint8Array | undefined): Manifest {
  return checkManifest(type, readManifestFile(type, bytes))
}

/** The same of what was read already. */
export function checkManifest(type: FunctionType, read: unknown): Manifest {
  const issues = problemsOf(type, read)
  if (issues.length > 0) throw validationError(TYPE_NAMES[type].manifestFile, issues)
  return withDefaults(type, read as Manifest)
}

/** The same of metadata alone. */
export function checkMetadata(type: FunctionType, read: unknown): NonNullable<Manifest['metadata']> {
  const issues = problemsWith(type === 'plugs' ? PlugMetadataSchema : MetadataSchema, read)
  if (issues.length > 0) throw validationError('the metadata', issues)
  return read as NonNullable<Manifest['metadata']>
}

/** What a value has against a schema. */
export function problemsWith(schema: TSchema, read: unknown): readonly Issue[] {
  return Errors(schema, read)
    .map(({ instancePath, message }) => wrong(instancePath, message))
    .slice(0, 50)
}

function withDefaults(type: FunctionType, manifest: Manifest): Manifest {
  if (type !== 'webscripts') return manifest
  return { ...manifest, private: manifest.private ?? true, allowHmac: manifest.allowHmac ?? true }
}

function problemsOf(type: FunctionType, read: unknown): readonly Issue[] {
  const issues = [...problemsWith(MANIFEST_SCHEMAS[type], read)]
  if (!isPlainObject(read) || issues.length > 0) return issues
  const { type: kind, version, runtimeVersion, deploy = {}, interface: declared = {} } = read as Manifest
  if (version !== undefined && !isVersion(version))
    issues.push(wrong('/version', `"${version}" is not major.minor.patch`))
  if (runtimeVersion !== undefined && !isRange(runtimeVersion)) {
    issues.push(wrong('/runtimeVersion', `"${runtimeVersion}" is not a range of versions`))
  }
  const { secrets = [], envVars = {} } = deploy
  const both = secrets.find((name) => Object.hasOwn(envVars, name))
  if (both !== undefined) issues.push(wrong('/deploy/secrets', `"${both}" is among envVars too`))
  if (type === 'models' && secrets.length > 0) issues.push(wrong('/deploy/secrets', 'a model is given no secrets'))
  if (kind === 'actuator' && (declared.states ?? []).length > 0) {
    issues.push(wrong('/interface/states', 'an actuator has no states'))
  }
  for (const list of ['states', 'input', 'output'] as const) {
    const names = (declared[list] ?? []).map((one) => (typeof one === 'string' ? one : one.name))
    const twice = names.find((name, at) => names.indexOf(name) !== at)
    if (twice !== undefined) issues.push(wrong(`/interface/${list}`, `"${twice}" is there twice`))
  }
  return issues
}

function wrong(path: string, message: string): Issue {
  return makeIssue('MANIFEST', path, message)
}
