/** Converts the short form of choices to texts with the format `enum`. */
import type { InputField, WrittenField } from './plug.ts'

/** `{ type: 'enum', values }` becomes `{ type: 'string', format: { type: 'enum', values } }`; other fields stay as they are. */
export function definedFields(input: Readonly<Record<string, WrittenField>>): Record<string, InputField> {
  return Object.fromEntries(Object.entries(input).map(([name, field]) => [name, definedField(field)]))
}

function definedField(field: WrittenField): InputField {
  if (field.type !== 'enum') return field
  const { values, ...others } = field
  return { ...others, type: 'string', format: { type: 'enum', values } }
}
