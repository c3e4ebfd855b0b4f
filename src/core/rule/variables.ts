/** Checks declarations of variables, and determines the values that a task starts with. */
import { at, FORBIDDEN_KEYS, shown } from '#kernel'
import { FIELD_TYPES } from '../plug/field-type.ts'
import { emptyRecord } from './check/record.ts'
import type { Report } from './check/report.ts'
import type { VariableDeclaration } from './rule.ts'

/** Reports repeated or reserved names, enums without values, defaults of the wrong type. */
export function checkDeclarations(
  declarations: readonly Partial<VariableDeclaration>[],
  path: string,
  report: Report,
): void {
  const seen = new Map<string, number>()
  declarations.forEach((declaration, i) => {
    const { name, format, defaultValue } = declaration
    if (name === undefined) return
    const declarationPath = at(path, i)
    const earlier = seen.get(name)
    if (earlier === undefined) seen.set(name, i)
    else
      report.error(
        'VARIABLE',
        at(declarationPath, 'name'),
        `the variable ${shown(name)} is declared twice, first as number ${earlier}`,
        'keep one declaration',
      )
    if (name === 'taskId' || FORBIDDEN_KEYS.has(name)) {
      report.error(
        'VARIABLE',
        at(declarationPath, 'name'),
        `the variable name ${shown(name)} is reserved`,
        'choose another name',
      )
    }
    if (format?.type === 'enum' && (format.values ?? []).length === 0) {
      report.error(
        'VARIABLE',
        at(declarationPath, 'format', 'values'),
        `the variable ${shown(name)} is an enum without values`,
        'list its values',
      )
    } else if (defaultValue !== undefined && defaultValue !== null) {
      typedValue(declaration, defaultValue, at(declarationPath, 'defaultValue'), report)
    }
  })
}

/** Values in the declared types, over the declared defaults. Undeclared variables are passed unchanged. */
export function resolveVariables(
  declarations: readonly VariableDeclaration[],
  written: Readonly<Record<string, unknown>>,
  path: string,
  report: Report,
): Record<string, unknown> {
  const values = emptyRecord()
  for (const [name, value] of Object.entries(written)) {
    if (FORBIDDEN_KEYS.has(name))
      report.error('KEY', at(path, name), `the key ${shown(name)} is not allowed`, 'choose another name')
    else values[name] = value
  }
  for (const declaration of declarations) {
    const { name, defaultValue, mandatory } = declaration
    const value = values[name]
    if (value !== undefined && value !== null) {
      const typed = typedValue(declaration, value, at(path, name), report)
      if (typed === undefined) delete values[name]
      else values[name] = typed
    } else if (defaultValue !== undefined && defaultValue !== null) {
      values[name] = defaultValue
    } else if (mandatory === true) {
      reportMissingVariable(name, at(path, name), report)
    }
  }
  return values
}

export function reportMissingVariable(name: string, path: string, report: Report): void {
  report.error('VARIABLE', path, `Variable '${name}' not found`, `set variables.${name}`, { variable: name })
}

function typedValue(declaration: Partial<VariableDeclaration>, value: unknown, path: string, report: Report): unknown {
  const { name = '', type, format } = declaration
  if (type === undefined) return value
  const rule = FIELD_TYPES[type]
  // other values are not converted to text, since a number in place of a name is a mistake
  const typed = rule.fits(value) ? value : type === 'string' ? undefined : rule.convert(value)
  if (typed === undefined) {
    report.error(
      'VARIABLE',
      path,
      `the variable ${shown(name)} is ${shown(value)}, not ${rule.noun}`,
      `write a value such as ${shown(rule.example)}`,
      { variable: name },
    )
    return undefined
  }
  if (format?.type === 'enum') {
    const values = (format.values ?? []).map(asText)
    if (!values.includes(asText(typed))) {
      report.error(
        'VARIABLE',
        path,
        `the variable ${shown(name)} is ${shown(value)}, not one of ${values.join(', ')}`,
        report.instead(asText(typed), values, 'values'),
        { variable: name },
      )
      return undefined
    }
  }
  return typed
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
