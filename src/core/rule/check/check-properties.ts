/** Checks properties of nodes against the declarations of their plugs. */
import { AppError, at, DURATION_PATTERN, messageOf, replacing, shown } from '#kernel'
import { findBindingProblems, findBindings } from '../../language/placeholders/find-bindings.ts'
import { FIELD_TYPES } from '../../plug/field-type.ts'
import type { InputField, Plug } from '../../plug/plug.ts'
import { finishProperties } from '../../plug/properties.ts'
import { emptyRecord } from './record.ts'
import type { Report } from './report.ts'
import { naming, type PlugEntry, type RuleIndex } from './rule-index.ts'

const DURATION = new RegExp(DURATION_PATTERN, 'u')

export function isConstant(value: unknown, field: InputField | undefined): boolean {
  if (isUnresolved(field)) return true
  const options = { template: field?.format?.type === 'template' }
  return findBindings(value, options).length === 0 && findBindingProblems(value, options).length === 0
}

/** Whether a property is passed unresolved, because its plug reads the placeholders in it. */
export function isUnresolved(field: InputField | undefined): boolean {
  return field?.format?.type === 'logic' || field?.format?.type === 'code'
}

export function fieldOf(plug: Plug | undefined, key: string): InputField | undefined {
  return plug !== undefined && Object.hasOwn(plug.input, key) ? plug.input[key] : undefined
}

/** In a template (`open`) a missing property is only a warning, because the task may supply it. */
export function checkProperties(index: RuleIndex, open: boolean, report: Report): void {
  for (const entry of index.plugNodes) {
    if (entry.plug !== undefined) checkNode(entry, entry.plug, open, report)
  }
}

export function checkNode(entry: PlugEntry, plug: Plug, open: boolean, report: Report): void {
  const written = entry.node.properties ?? {}
  const path = at(entry.path, 'properties')
  const constants = emptyRecord()
  const errors = report.errorCount
  for (const [key, field] of Object.entries(plug.input)) {
    const value = Object.hasOwn(written, key) ? written[key] : undefined
    if (value === undefined || value === null) {
      if (field.defaultValue !== undefined) constants[key] = field.defaultValue
      else if (field.mandatory === true) reportMissing(entry, key, field, at(path, key), open, report)
    } else if (isConstant(value, field)) {
      const fitting = checkConstant(entry, key, value, field, at(path, key), report)
      if (fitting !== undefined) constants[key] = fitting
    }
  }
  for (const key of Object.keys(written)) {
    if (Object.hasOwn(plug.input, key)) continue
    report.lenient(
      'UNKNOWN_PROPERTY',
      at(path, key),
      `${naming(entry)}: ${plug.name} has no property ${shown(key)}`,
      report.rename(key, Object.keys(plug.input), `properties of ${plug.name}`, written),
    )
  }
  checkByPlug(entry, plug, constants, path, report)
  const isWhole = Object.entries(written).every(([key, value]) => isConstant(value, fieldOf(plug, key)))
  if (isWhole && report.errorCount === errors) prepareOnce(entry, plug, constants, path, report)
}

function reportMissing(
  entry: PlugEntry,
  key: string,
  field: InputField,
  path: string,
  open: boolean,
  report: Report,
): void {
  const message = `${naming(entry)}: the property ${shown(key)} is missing`
  const example = field.example ?? field.format?.values?.[0] ?? FIELD_TYPES[field.type].example
  const hint = `write ${shown(key)}: ${shownUnless(field, example)}`
  if (open) report.warning('PROPERTY', path, message, `${hint}, or set it in "nodes" when the task is created`)
  else report.error('PROPERTY', path, message, hint)
}

function checkConstant(
  entry: PlugEntry,
  key: string,
  value: unknown,
  field: InputField,
  path: string,
  report: Report,
): unknown {
  const type = FIELD_TYPES[field.type]
  const what = `${naming(entry)}: the property ${shown(key)}`
  const typed = type.fits(value) || field.format?.type === 'logic' ? value : type.convert(value)
  if (typed === undefined || (field.type === 'string' && typeof value === 'object')) {
    report.error(
      'PROPERTY',
      path,
      `${what} is ${shownUnless(field, value)}, not ${type.noun}`,
      `write a value such as ${shownUnless(field, field.example ?? type.example)}`,
    )
    return undefined
  }
  if (field.type === 'string' && typeof value !== 'string') {
    report.warning('PROPERTY', path, `${what} is ${shownUnless(field, value)}, which becomes text`, {
      text: `write ${shownUnless(field, typed)}`,
      fix: typeof typed === 'string' ? replacing(typed) : undefined,
    })
  }
  if (field.format?.type === 'enum') {
    const values = field.format.values ?? []
    const text = typeof typed === 'string' ? typed : JSON.stringify(typed)
    if (!values.includes(text)) {
      report.error(
        'PROPERTY',
        path,
        `${what} is ${shownUnless(field, value)}, not one of ${values.join(', ')}`,
        report.instead(text, values, 'values'),
      )
      return undefined
    }
  }
  if (field.format?.type === 'duration' && typeof typed === 'string' && !DURATION.test(typed)) {
    report.error(
      'PROPERTY',
      path,
      `${what} is ${shownUnless(field, value)}, not a duration`,
      'write PT50S, P1DT2H, or a short form such as 5m',
    )
    return undefined
  }
  return typed
}

function checkByPlug(
  entry: PlugEntry,
  plug: Plug,
  constants: Readonly<Record<string, unknown>>,
  path: string,
  report: Report,
): void {
  if (plug.check === undefined) return
  try {
    // passes a plain object, as in a run, since a plug may use methods of objects
    for (const { property, message, suggestion } of plug.check({ ...constants })) {
      report.error('PROPERTY', at(path, property), `${naming(entry)}: ${message}`, suggestion)
    }
  } catch (error) {
    report.error(
      'PLUG',
      path,
      `${naming(entry)}: the check of ${plug.name} ${plug.version} failed: ${messageOf(error)}`,
      'correct the plug',
    )
  }
}

/** Some problems of `prepare` involve several properties, so checks of single properties do not find them. */
function prepareOnce(
  entry: PlugEntry,
  plug: Plug,
  constants: Readonly<Record<string, unknown>>,
  path: string,
  report: Report,
): void {
  if (plug.prepare === undefined) return
  const { properties } = finishProperties(plug, { ...constants })
  if (properties === undefined) return // was already reported, or a template's task may still supply it
  try {
    plug.prepare(properties)
  } catch (error) {
    const issues = error instanceof AppError ? error.issues : []
    const [about = { path: '', message: messageOf(error), suggestion: undefined }] = issues
    const property = about.path.slice(1)
    const issuePath = Object.hasOwn(plug.input, property) ? at(path, property) : path
    const message = issues.length > 1 ? messageOf(error) : about.message
    report.error('PROPERTY', issuePath, `${naming(entry)}: ${message}`, about.suggestion)
  }
}

function shownUnless(field: InputField, value: unknown): string {
  return field.sensitive === true ? '(not shown)' : shown(value)
}
