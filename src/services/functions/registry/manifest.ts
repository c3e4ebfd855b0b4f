/** What a function says about itself: the schema, which the check and `/schemas` share, and what more must hold. */
import { Type, type Static } from 'typebox'
import { Errors } from 'typebox/value'
import { AppError, validationError, type Issue } from '../../../kernel/errors.ts'
import { isPlainObject } from '../../../kernel/json.ts'
import { makeIssue } from '../../../kernel/issues.ts'
import { isRange, isVersion } from './versions.ts'

const closed = { additionalProperties: false } as const
const Texts = Type.Array(Type.String({ maxLength: 200 }), { maxItems: 100 })
const DATA_TYPES = ['string', 'integer', 'long', 'float', 'double', 'boolean', 'object', 'array'] as const
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

export const PlugManifestSchema = Type.Object(
  {
    name: Type.String({ pattern: '^[A-Za-z][A-Za-z0-9_-]{0,99}$', description: 'as rules name it' }),
    version: Type.Optional(Type.String({ description: 'major.minor.patch; without it the next one' })),
    type: Type.Enum(['sensor', 'actuator']),
    runtime: Type.String({ maxLength: 100 }),
    runtimeVersion: Type.Optional(Type.String({ maxLength: 100, description: 'a range' })),
    interface: Type.Object(
      {
        states: Type.Optional(Texts),
        input: Type.Optional(Type.Array(PropertySchema, { maxItems: 100 })),
        output: Type.Optional(Type.Array(PropertySchema, { maxItems: 100 })),
      },
      closed,
    ),
    metadata: Type.Optional(
      Type.Object(
        {
          author: Type.Optional(Type.String({ maxLength: 200 })),
          description: Type.Optional(Type.String({ maxLength: 10_000 })),
          category: Type.Optional(Type.String({ maxLength: 200 })),
          iconURL: Type.Optional(Type.String({ maxLength: 2_000 })),
          documentationURL: Type.Optional(Type.String({ maxLength: 2_000 })),
          friendlyName: Type.Optional(Type.String({ maxLength: 200 })),
        },
        closed,
      ),
    ),
  },
  { ...closed, title: 'Manifest of a plug' },
)

export type PlugManifest = Static<typeof PlugManifestSchema>

/** The file of a manifest, by type of function. */
export const MANIFEST_FILE = 'plug.json'
const MAX_BYTES = 262_144

/** `VALIDATION` with all problems, their places in the file. */
export function readManifest(bytes: Uint8Array | undefined): PlugManifest {
  if (bytes === undefined) throw new AppError('VALIDATION', `there is no ${MANIFEST_FILE} among the assets`)
  const issues = bytes.length > MAX_BYTES ? [wrong('', `is larger than ${MAX_BYTES} bytes`)] : []
  let read: unknown
  try {
    if (issues.length === 0) read = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    issues.push(wrong('', 'is not JSON in UTF-8'))
  }
  if (issues.length === 0) issues.push(...problemsOf(read))
  if (issues.length > 0) throw validationError(MANIFEST_FILE, issues)
  return read as PlugManifest
}

function problemsOf(read: unknown): readonly Issue[] {
  const issues = Errors(PlugManifestSchema, read).map(({ instancePath, message }) => wrong(instancePath, message))
  if (!isPlainObject(read) || issues.length > 0) return issues.slice(0, 50)
  const { type, version, runtimeVersion, interface: declared } = read as PlugManifest
  if (version !== undefined && !isVersion(version))
    issues.push(wrong('/version', `"${version}" is not major.minor.patch`))
  if (runtimeVersion !== undefined && !isRange(runtimeVersion)) {
    issues.push(wrong('/runtimeVersion', `"${runtimeVersion}" is not a range of versions`))
  }
  if (type === 'actuator' && (declared.states ?? []).length > 0) {
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
