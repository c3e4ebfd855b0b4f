/** The form of the chosen node, made from the schema of its plug: its properties, or a gate's rows, and its triggers. */
import type { PlugEntity } from '#services/rules/contract'
import { Panel } from '../parts/layout.tsx'
import { type Match, MatchMark } from '../parts/marks.tsx'
import { TextField } from '../parts/text-field.tsx'
import { countText } from '../words/numbers.ts'
import { metricOf } from '../words/rules.ts'
import { problemText } from '../words/editor.ts'
import type { Units } from '../words/units.ts'
import type { Checked, Fixable } from './draft-check.ts'
import { GATE_TYPES } from './palette.tsx'
import {
  changed,
  changedItem,
  type Json,
  listOf,
  nodeAt,
  renamed,
  textsOf,
  withoutItem,
  withItem,
  withoutNode,
  withParents,
} from './rule-edits.ts'
import { readField } from '../words/field-text.ts'
import { Field, type PlugField, Select } from './fields.tsx'

export interface NodeFormProps {
  readonly rule: Json
  readonly label: string
  readonly plugs: readonly PlugEntity[]
  readonly checked: Checked | undefined
  readonly match: Match | undefined
  readonly units: Units
  /** metrics of the resource that the draft is tried on */
  readonly metrics: readonly string[]
  change(rule: Json, chosen?: string): void
}

export function NodeForm(props: NodeFormProps) {
  const { rule, label, plugs, checked, match, change } = props
  const found = nodeAt(rule, label)
  if (found === undefined) return null
  const { list, index, node } = found
  const type = list === 'sensors' ? 'sensor' : 'actuator'
  const plug = plugs.find((one) => one.name === node['name'] && one.type === type)
  const here = `/${list}/${index}`
  const problems = (checked?.problems ?? []).filter(({ path }) => path === here || path.startsWith(`${here}/`))
  const set = (fields: Json): void => change(changedItem(rule, list, index, fields), label)
  const rename = (to: string): void => {
    if (to !== '' && to !== label && nodeAt(rule, to) === undefined) change(renamed(rule, label, to), to)
  }
  const state = checked?.states.get(label)?.state
  return (
    <Panel title={<code>{label}</code>} aside={list === 'relations' ? 'gate' : `${type}, ${String(node['name'])}`}>
      <div class="pad stack">
        {plug?.description !== undefined && <p class="second">{plug.description}</p>}
        {match !== undefined && list !== 'actuators' && (
          <p class="state">
            Right now: <MatchMark match={match} /> <strong>{state ?? 'unknown'}</strong>
          </p>
        )}
        <div class="controls">
          <label>
            Label
            <TextField value={label} onChange={(text) => rename(text.trim())} />
          </label>
          {list === 'relations' ? (
            <Select name="Type" value={String(node['type'])} options={GATE_TYPES} onChange={(type) => set({ type })} />
          ) : (
            <label>
              Resource
              <TextField
                value={typeof node['resource'] === 'string' ? node['resource'] : ''}
                placeholder="$ is the resource of the task"
                onChange={(value) => set({ resource: value === '' ? undefined : value })}
              />
            </label>
          )}
        </div>
        {list === 'relations' ? (
          <Gate {...props} gate={node} set={set} />
        ) : (
          <Properties {...props} node={node} plug={plug} problems={problems} here={here} set={set} />
        )}
        {problems
          .filter(({ path }) => !path.startsWith(`${here}/properties/`))
          .map((one) => (
            <p class="bad" key={one.path + one.message}>
              {problemText(one)}
            </p>
          ))}
        {list !== 'relations' && <Triggers {...props} />}
        <div>
          <button type="button" class="small" onClick={() => change(withoutNode(rule, label))}>
            Remove {label}
          </button>
        </div>
      </div>
    </Panel>
  )
}

interface PropertiesProps extends NodeFormProps {
  readonly node: Json
  readonly plug: PlugEntity | undefined
  readonly problems: readonly Fixable[]
  readonly here: string
  set(fields: Json): void
}

function Properties({ node, plug, problems, here, checked, units, metrics, set }: PropertiesProps) {
  const properties = (node['properties'] ?? {}) as Json
  const declared: readonly PlugField[] = plug?.configuration ?? []
  const others = Object.keys(properties).filter((name) => !declared.some((field) => field.name === name))
  const fields = [...declared, ...others.map((name) => ({ name, type: 'any', mandatory: false }))]
  const unit = units.get(metricOf(properties) ?? '')
  const isUsed = ({ name, mandatory }: PlugField): boolean =>
    mandatory || name in properties || problems.some(({ path }) => path === `${here}/properties/${name}`)
  const unused = fields.filter((field) => !isUsed(field))
  const form = (list: readonly PlugField[]) =>
    list.map((field) => (
      <Field
        key={field.name}
        field={field}
        value={properties[field.name]}
        unit={typeof properties[field.name] === 'number' ? unit : undefined}
        suggestions={/^(?:parameter|metric)$/.test(field.name) ? metrics : []}
        resolved={checked?.resolved.get(field.name)}
        problem={problems.find(({ path }) => path === `${here}/properties/${field.name}`)}
        onChange={(value) => set({ properties: changed(properties, { [field.name]: value }) })}
      />
    ))
  return (
    <>
      {form(fields.filter(isUsed))}
      {unused.length > 0 && (
        <details>
          <summary>{countText(unused.length, 'more property', 'more properties')}</summary>
          <div class="stack pad">{form(unused)}</div>
        </details>
      )}
    </>
  )
}

function statesOf(rule: Json, plugs: readonly PlugEntity[], label: string): readonly string[] {
  const { list, node } = nodeAt(rule, label) ?? {}
  if (list === 'relations') return ['TRUE', 'FALSE']
  return plugs.find(({ name, type }) => name === node?.['name'] && type === 'sensor')?.states ?? []
}

/** Labels of nodes that have states. */
function sourcesOf(rule: Json): readonly string[] {
  return [...listOf(rule, 'sensors'), ...listOf(rule, 'relations')].map(({ label }) => String(label))
}

function Gate({ rule, label, plugs, gate, set }: NodeFormProps & { readonly gate: Json; set(fields: Json): void }) {
  const parents = textsOf(gate['parentLabels'])
  const rows = Array.isArray(gate['combinations']) ? gate['combinations'].map(textsOf) : []
  const choose = (row: number, column: number, state: string): void =>
    set({ combinations: rows.map((one, at) => (at === row ? one.with(column, state) : one)) })
  return (
    <>
      <fieldset class="row">
        <legend class="second">Parents</legend>
        {sourcesOf(rule)
          .filter((one) => one !== label)
          .map((one) => (
            <label class="check" key={one}>
              <input
                type="checkbox"
                checked={parents.includes(one)}
                onChange={({ currentTarget: { checked } }) =>
                  set(withParents(gate, checked ? [...parents, one] : parents.filter((parent) => parent !== one)))
                }
              />
              <code>{one}</code>
            </label>
          ))}
      </fieldset>
      {rows.map((row, at) => (
        <div class="controls" key={at} role="group" aria-label={`Row ${at + 1}`}>
          {parents.map((parent, column) => (
            <Select
              key={parent}
              name={`${column === 0 ? '' : gate['type'] === 'OR' ? 'or ' : 'and '}${parent} is`}
              value={row[column] ?? ''}
              options={statesOf(rule, plugs, parent)}
              onChange={(state) => choose(at, column, state)}
            />
          ))}
          {rows.length > 1 && (
            <button type="button" class="small" onClick={() => set({ combinations: rows.toSpliced(at, 1) })}>
              Remove row {at + 1}
            </button>
          )}
        </div>
      ))}
      {gate['type'] === 'GENERAL' && (
        <div>
          <button type="button" class="small" onClick={() => set({ combinations: [...rows, parents.map(() => '')] })}>
            Add a row
          </button>
        </div>
      )}
    </>
  )
}

const CONDITIONS = { statesTrigger: 'while it is', begins: 'on entering', ends: 'on leaving' } as const

/** The triggers into the node: from which node, in which states, and how often. */
function Triggers({ rule, label, plugs, change }: NodeFormProps) {
  const all = listOf(rule, 'triggers')
  const sources = sourcesOf(rule).filter((one) => one !== label)
  const isSensor = nodeAt(rule, label)?.list === 'sensors'
  const first = sources.at(-1)
  const add = (): void => {
    const states = statesOf(rule, plugs, first ?? '').slice(0, 1)
    change(withItem(rule, 'triggers', { sourceLabel: first, destinationLabel: label, statesTrigger: states }), label)
  }
  return (
    <>
      {all.map((trigger, index) => {
        if (trigger['destinationLabel'] !== label) return null
        const set = (fields: Json): void => change(changedItem(rule, 'triggers', index, fields), label)
        const source = String(trigger['sourceLabel'])
        const kind = (Object.keys(CONDITIONS) as (keyof typeof CONDITIONS)[]).find((one) => trigger[one] !== undefined)
        return (
          <div class="controls trigger" key={index} role="group" aria-label={`Trigger from ${source}`}>
            <Select name="Fires by" value={source} options={sources} onChange={(sourceLabel) => set({ sourceLabel })} />
            {trigger['stateChangeTrigger'] === undefined && (
              <>
                <label>
                  Condition
                  <select
                    value={kind ?? ''}
                    onChange={({ currentTarget: { value } }) => {
                      const states = kind === undefined ? statesOf(rule, plugs, source).slice(0, 1) : trigger[kind]
                      const none = { statesTrigger: undefined, begins: undefined, ends: undefined }
                      set({ ...none, ...(value !== '' && { [value]: states }) })
                    }}
                  >
                    <option value="">after each run</option>
                    {Object.entries(CONDITIONS).map(([one, text]) => (
                      <option key={one} value={one}>
                        {text}
                      </option>
                    ))}
                  </select>
                </label>
                {kind !== undefined && (
                  <Select
                    name="State"
                    value={textsOf(trigger[kind])[0] ?? ''}
                    options={statesOf(rule, plugs, source)}
                    onChange={(state) => set({ [kind]: [state] })}
                  />
                )}
              </>
            )}
            <label>
              Cool-down, s
              <TextField
                inputMode="numeric"
                value={typeof trigger['invocationPolicy'] === 'number' ? String(trigger['invocationPolicy']) : ''}
                placeholder="0"
                onChange={(text) => set({ invocationPolicy: readField(text, 'integer') })}
              />
            </label>
            <button type="button" class="small" onClick={() => change(withoutItem(rule, 'triggers', index), label)}>
              Remove trigger
            </button>
          </div>
        )
      })}
      {first !== undefined && (
        <div>
          <button type="button" class="small" onClick={add}>
            {isSensor ? 'Run it by another node' : 'Add a trigger'}
          </button>
        </div>
      )}
    </>
  )
}
