/** Tries a draft on a reading of a resource, with typed values and variables; nothing is called. */
import { Panel } from '../parts/layout.tsx'
import { listText, valueText } from '../words/numbers.ts'
import { metricOf } from '../words/rules.ts'
import type { Units } from '../words/units.ts'
import { Why } from '../screens/why.tsx'
import type { Checked } from './draft-check.ts'
import { type Json, listOf, withItem } from './rule-edits.ts'
import { fieldText, readField } from '../words/field-text.ts'

export interface TryPanelProps {
  readonly rule: Json
  readonly checked: Checked | undefined
  readonly selected: string | undefined
  readonly resources: readonly string[]
  readonly resource: string
  readonly units: Units
  /** the newest reading of the resource */
  readonly reading: Json | undefined
  /** texts typed over the values of the reading */
  readonly typed: Typed
  readonly variables: Typed
  onResource(resource: string): void
  onTyped(typed: Typed): void
  onVariables(variables: Typed): void
  onRule(rule: Json): void
}

export type Typed = Readonly<Record<string, string>>

/** Reads typed texts as values; leaves out empty ones. */
export function valuesOf(typed: Typed): Json {
  return Object.fromEntries(Object.entries(typed).map(([name, text]) => [name, readField(text, 'any')]))
}

const OWN = new Set(['resource', 'timestamp'])

export function TryPanel(props: TryPanelProps) {
  const { rule, checked, selected, resources, resource, units, reading = {}, typed, variables } = props
  const read = [...listOf(rule, 'sensors')].flatMap(({ properties }) => metricOf((properties ?? {}) as Json) ?? [])
  const names = [...new Set([...Object.keys(reading), ...read, ...Object.keys(typed)])].filter((name) => !OWN.has(name))
  const declared = new Set(listOf(rule, 'variables').map(({ name }) => name))
  const isTyped = Object.keys(typed).length > 0
  const fired = [...new Set(checked?.fired ?? [])]
  return (
    <Panel title="Try it" aside={isTyped ? 'on the values below' : 'on the newest reading; nothing is called'}>
      <div class="pad stack">
        <label>
          Resource
          <select value={resource} onChange={({ currentTarget }) => props.onResource(currentTarget.value)}>
            <option value="">none: placeholders stay open</option>
            {resources.map((id) => (
              <option key={id}>{id}</option>
            ))}
          </select>
        </label>
        {names.length > 0 && (
          <div class="controls" role="group" aria-label="Values of the message">
            {names.map((name) => (
              <label key={name}>
                {units.has(name) ? `${name}, ${units.get(name)}` : name}
                <input
                  class={name in typed ? 'typed' : ''}
                  value={typed[name] ?? fieldText(reading[name], 'any')}
                  onInput={({ currentTarget: { value } }) => props.onTyped({ ...typed, [name]: value })}
                />
              </label>
            ))}
          </div>
        )}
        {isTyped && (
          <div>
            <button type="button" class="small" onClick={() => props.onTyped({})}>
              Follow the readings again
            </button>
          </div>
        )}
        {checked !== undefined && checked.variables.length > 0 && (
          <div class="controls" role="group" aria-label="Variables">
            {checked.variables.map(({ name, displayName = name, type, defaultValue }) => (
              <label key={name}>
                {valueText(displayName)}
                {declared.has(name) ? `, ${type}` : ', not declared'}
                <input
                  value={variables[name] ?? ''}
                  placeholder={defaultValue === undefined ? 'no default' : `default ${valueText(defaultValue)}`}
                  onInput={({ currentTarget: { value } }) => props.onVariables({ ...variables, [name]: value })}
                />
                {!declared.has(name) && (
                  <button
                    type="button"
                    class="small"
                    onClick={() => props.onRule(withItem(rule, 'variables', { name, type, mandatory: true }))}
                  >
                    Declare {name}
                  </button>
                )}
              </label>
            ))}
          </div>
        )}
        {fired.length > 0 && (
          <p>
            It fires {listText(fired)}
            {resource !== '' && ` on ${resource}`}.
          </p>
        )}
        {checked?.why !== undefined ? (
          <Why text={checked.why} />
        ) : (
          selected === undefined && <p class="second">Choose a node of the graph for its form and its reason.</p>
        )}
      </div>
    </Panel>
  )
}
