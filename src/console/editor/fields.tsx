/** Fields of forms for values that a plug declares: what a value is, its unit, an example, and its problem. */
import { useId } from 'preact/hooks'
import { Icon } from '../parts/icons.tsx'
import { TextField } from '../parts/text-field.tsx'
import { problemText } from '../words/editor.ts'
import { valueText } from '../words/numbers.ts'
import type { Fixable } from './draft-check.ts'
import { fieldText, readField } from '../words/field-text.ts'

export interface PlugField {
  readonly name: string
  readonly type: string
  readonly mandatory: boolean
  readonly defaultValue?: unknown
  readonly format?: { readonly type: string; readonly values?: readonly unknown[] }
  readonly description?: string
}

export interface SelectProps {
  readonly name: string
  readonly value: string
  readonly options: readonly string[]
  /** the text of the option for no value; without it, a value that is not an option is shown as wrong */
  readonly none?: string
  onChange(value: string): void
}

export function Select({ name, value, options, none, onChange }: SelectProps) {
  const isKnown = options.includes(value) || (value === '' && none !== undefined)
  return (
    <label>
      {name}
      <select value={value} aria-invalid={!isKnown} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        {none !== undefined && <option value="">{none}</option>}
        {!isKnown && <option value={value}>{value === '' ? 'choose' : `${value}, which does not exist`}</option>}
        {options.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
    </label>
  )
}

/** Examples by the format of a field, else by its type. */
const EXAMPLES: Readonly<Record<string, string>> = {
  duration: '5min',
  url: 'https://example.org/hook',
  template: '{{RESOURCE}} is at {{GLOBAL.temperature}} °C',
  code: 'temperature > 90 && pump == false',
  resource: '$',
  object: '{"key": "value"}',
  array: '["a", "b"]',
  integer: '10',
  long: '1000',
  double: '90.5',
}

const LONG = /^(?:template|code|object|array)$/

export interface FieldProps {
  readonly field: PlugField
  readonly value: unknown
  readonly unit: string | undefined
  readonly suggestions: readonly string[]
  /** the text with its placeholders replaced; empty: a value is missing; undefined: without placeholders */
  readonly resolved: string | undefined
  readonly problem: Fixable | undefined
  onChange(value: unknown): void
}

export function Field({ field, value, unit, suggestions, resolved, problem, onChange }: FieldProps) {
  const id = useId()
  const { name, type, mandatory, defaultValue, format, description } = field
  const kind = format?.type ?? type
  const title = `${name}${unit === undefined ? '' : `, ${unit}`}${mandatory ? '' : ' (optional)'}`
  const initial = defaultValue === undefined ? '' : `default ${valueText(defaultValue)}`
  const example = EXAMPLES[kind]
  const hint = initial !== '' ? initial : example === undefined ? '' : `such as ${example}`
  const none = mandatory ? undefined : initial || 'not set'
  const given = fieldText(value, type)
  const shared = {
    value: given,
    placeholder: hint,
    'aria-invalid': problem !== undefined,
    'aria-describedby': id,
    onChange: (text: string) => onChange(readField(text, type)),
  }
  const choices =
    kind === 'enum' ? (format?.values ?? []).map(String) : type === 'boolean' ? ['true', 'false'] : undefined
  return (
    <div class="field">
      {choices !== undefined ? (
        <Select
          name={title}
          value={given}
          options={choices}
          {...(none !== undefined && { none })}
          onChange={(text) => onChange(readField(text, type))}
        />
      ) : (
        <label>
          {title}
          {LONG.test(kind) ? (
            <TextField {...shared} rows={Math.min(6, Math.max(2, given.split('\n').length))} />
          ) : (
            <>
              <TextField {...shared} list={suggestions.length > 0 ? `${id}-list` : undefined} />
              {suggestions.length > 0 && (
                <datalist id={`${id}-list`}>
                  {suggestions.map((one) => (
                    <option key={one} value={one} />
                  ))}
                </datalist>
              )}
            </>
          )}
        </label>
      )}
      <p class="dim" id={id}>
        {description}
      </p>
      {resolved !== undefined && (
        <p class="second">{resolved === '' ? 'Now: a value is missing, so the call would fail' : `Now: ${resolved}`}</p>
      )}
      {problem !== undefined && (
        <p class="failed">
          <Icon name="problem" /> {problemText(problem)}
        </p>
      )}
    </div>
  )
}
