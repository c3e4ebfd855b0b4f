/** Checks the properties and raw data that a plug declares. */
import { at, FORBIDDEN_KEYS, isPlainObject, type Issue, jsonProblem, shown } from '#kernel'
import { FIELD_TYPES } from './field-type.ts'
import type { FieldFormat, FieldType } from './plug.ts'
import { problem } from './problem.ts'

const FORMATS = [
  'enum',
  'resource',
  'vault',
  'duration',
  'code',
  'url',
  'date',
  'template',
  'logic',
] satisfies FieldFormat['type'][]
const MAX_FIELDS = 1000
const INPUT_FLAGS = ['mandatory', 'sensitive'] as const
const INPUT_KEYS: readonly string[] = [
  'type',
  'mandatory',
  'defaultValue',
  'format',
  'description',
  'example',
  'sensitive',
]
const CHOICE_KEYS: readonly string[] = ['values', ...INPUT_KEYS.filter((key) => key !== 'format')]
const OUTPUT_KEYS: readonly string[] = ['type', 'description', 'unit']

export function inputProblems(input: unknown): Issue[] {
  return fieldsProblems('/input', input, INPUT_KEYS, (path, field, type) => [
    ...flagProblems(path, field),
    ...textProblems(path, field, ['description']),
    ...formatProblems(path, field['format'], type),
    ...defaultProblems(path, field, type),
    ...jsonProblems(`${path}/example`, field['example']),
  ])
}

export function outputProblems(output: unknown): Issue[] {
  return fieldsProblems('/output', output, OUTPUT_KEYS, (path, field) =>
    textProblems(path, field, ['description', 'unit']),
  )
}

type Field = Readonly<Record<string, unknown>>

function fieldsProblems(
  base: string,
  fields: unknown,
  keys: readonly string[],
  more: (path: string, field: Field, type: FieldType | undefined) => Issue[],
): Issue[] {
  if (fields === undefined) return []
  if (!isPlainObject(fields))
    return [
      problem(base, `${shown(fields)} is not an object of fields`, 'use a form such as { value: { type: "double" } }'),
    ]
  const entries = Object.entries(fields)
  if (entries.length > MAX_FIELDS)
    return [problem(base, `${entries.length} fields are too many`, `use at most ${MAX_FIELDS}`)]
  return entries.flatMap(([name, field]) => {
    const path = at(base, name)
    // a name such as `toString`, which every object inherits, would seem present where it is absent
    if (name.trim() === '' || FORBIDDEN_KEYS.has(name) || name in Object.prototype) {
      return [problem(path, `"${name}" is not a valid field name`, 'use another name')]
    }
    if (!isPlainObject(field))
      return [problem(path, `${shown(field)} is not a field`, 'use a form such as { type: "string" }')]
    const isChoices = field['type'] === 'enum' && keys === INPUT_KEYS
    const type = isChoices ? 'string' : isType(field['type']) ? field['type'] : undefined
    const issues = type === undefined ? [typeProblem(path, field['type'])] : []
    const allowed = isChoices ? CHOICE_KEYS : keys
    for (const key of Object.keys(field)) {
      if (!allowed.includes(key))
        issues.push(problem(`${path}/${key}`, `"${key}" is not part of a field`, `use ${allowed.join(', ')}`))
    }
    if (!isChoices) return [...issues, ...more(path, field, type)]
    const { values, ...others } = field
    const found = more(path, { ...others, type, format: { type: 'enum', values } }, type)
    return [...issues, ...found.map((issue) => ({ ...issue, path: issue.path.replace('/format/values', '/values') }))]
  })
}

function isType(type: unknown): type is FieldType {
  return typeof type === 'string' && Object.hasOwn(FIELD_TYPES, type)
}

function typeProblem(path: string, type: unknown): Issue {
  return problem(
    `${path}/type`,
    `${shown(type)} is not a valid type`,
    `use one of ${Object.keys(FIELD_TYPES).join(', ')}`,
  )
}

function flagProblems(path: string, field: Field): Issue[] {
  return INPUT_FLAGS.flatMap((flag) => {
    const value = field[flag]
    if (value === undefined || typeof value === 'boolean') return []
    return [problem(`${path}/${flag}`, `${shown(value)} is neither true nor false`)]
  })
}

function textProblems(path: string, field: Field, keys: readonly string[]): Issue[] {
  return keys.flatMap((key) => {
    const value = field[key]
    return value === undefined || typeof value === 'string'
      ? []
      : [problem(`${path}/${key}`, `${shown(value)} is not text`)]
  })
}

function formatProblems(path: string, format: unknown, type: FieldType | undefined): Issue[] {
  if (format === undefined) return []
  const at = `${path}/format`
  if (!isPlainObject(format) || !FORMATS.some((known) => known === format['type'])) {
    return [
      problem(at, `${shown(format)} is not a valid format`, `use { type: ... } with one of ${FORMATS.join(', ')}`),
    ]
  }
  const values = format['values']
  if (format['type'] !== 'enum') {
    return values === undefined ? [] : [problem(`${at}/values`, 'only the format "enum" has values', 'omit them')]
  }
  const issues: Issue[] = []
  if (!isChoice(values))
    issues.push(
      problem(`${at}/values`, `${shown(values)} are not the values of an enum`, 'use a list of distinct texts'),
    )
  if (type !== undefined && type !== 'string') {
    issues.push(problem(at, `an enum is text, but the type is ${type}`, 'use the type "string"'))
  }
  return issues
}

function isChoice(values: unknown): values is readonly string[] {
  if (!Array.isArray(values) || values.length === 0) return false
  return values.every((value) => typeof value === 'string') && new Set(values).size === values.length
}

function defaultProblems(path: string, field: Field, type: FieldType | undefined): Issue[] {
  const value = field['defaultValue']
  const at = `${path}/defaultValue`
  if (value === undefined || type === undefined) return []
  if (!FIELD_TYPES[type].fits(value))
    return [problem(at, `the default ${shown(value)} is not ${FIELD_TYPES[type].noun}`)]
  const values = isPlainObject(field['format']) ? field['format']['values'] : undefined
  if (isChoice(values) && !values.some((choice) => choice === value)) {
    return [problem(at, `the default ${shown(value)} is not among the values`, `use one of ${values.join(', ')}`)]
  }
  return jsonProblems(at, value)
}

function jsonProblems(path: string, value: unknown): Issue[] {
  const found = value === undefined ? undefined : jsonProblem(value)
  return found === undefined ? [] : [problem(path, `it ${found}`, 'use plain JSON')]
}
