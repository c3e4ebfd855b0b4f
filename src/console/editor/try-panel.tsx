/** Tries a draft on a reading of a resource, with typed values and variables; nothing is called. */
import { Panel } from '../parts/layout.tsx'
import { listText, valueText } from '../words/numbers.ts'
import { metricOf } from '../words/rules.ts'
import type { Units } from '../words/units.ts'
import { Why } from '../screens/why.tsx'
import type { Checked } from './draft-check.ts'
import { fieldText, type Json, listOf, readField, withItem } from './rule-edits.ts'

export interface TryPanelProps {
  readonly rule: Json
  readonly checked: Checked | undefined
  readonly selected: string | undefined
  readonly resources: readonly string[]
  readonly resource: string
  readonly units: Units
  /** the newest reading of the resource */
  readonly reading: Json | undefined
  /** values typed over those of the reading */
  readonly typed: Json
  readonly variables: Json
  onResource(resource: string): void
  onTyped(typed: Json): void
  onVariables(variables: Json): void
  onRule(rule: Json): void
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
                  value={fieldText(typed[name] ?? reading[name], 'any')}
                  onInput={({ currentTarget }) =>
                    props.onTyped({ ...typed, [name]: readField(currentTarget.value, 'any') ?? null })
                  }
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
                  value={fieldText(variables[name], type)}
                  placeholder={defaultValue === undefined ? 'no default' : `default ${valueText(defaultValue)}`}
                  onInput={({ currentTarget }) =>
                    props.onVariables({ ...variables, [name]: readField(currentTarget.value, type) })
                  }
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
