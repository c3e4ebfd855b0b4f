/** The rule editor: one document as graph and as JSON, with its problems where they are, their fixes, and undo. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { ExplanationText, PlugEntity } from '#services/rules/contract'
import { type History, patched, placeOf, recorded, written } from '../editor-document.ts'
import { apply, type NodeStates } from '../graph/node-states.ts'
import { NO_RULE, readRule, type RuleView } from '../graph/rule-view.ts'
import { RuleGraph } from '../graph/rule-graph.tsx'
import { useKeys } from '../keys.ts'
import { useLoad } from '../loading.ts'
import { Icon } from '../parts/icons.tsx'
import { JsonEditor } from '../parts/json-editor.tsx'
import { Answer, Panel, Problem, Waiting } from '../parts/layout.tsx'
import { done } from '../parts/undo.tsx'
import { useIsNarrow } from '../parts/narrow.ts'
import { go, query, to, withQuery } from '../router.ts'
import { api, may } from '../session.ts'
import { zone } from '../settings.ts'
import { editorAnswer, fixText, nodeOf, problemText, type EditorProblem } from '../words/editor.ts'
import { messageOf } from '../words/errors.ts'
import { Why } from './why.tsx'

const STARTER = {
  name: 'my-rule',
  description: 'An alarm while a boiler is above 90 °C.',
  sensors: [
    {
      label: 'temperature',
      name: 'streamingDataSensor',
      resource: '$',
      properties: { parameter: 'temperature', threshold: 90 },
    },
  ],
  actuators: [
    {
      label: 'alarm',
      name: 'createAlarm',
      properties: { type: 'too hot', severity: 'MAJOR', text: '{{RESOURCE}} is at {{GLOBAL.temperature}} °C' },
    },
  ],
  triggers: [
    { sourceLabel: 'temperature', destinationLabel: 'alarm', statesTrigger: ['Above'], invocationPolicy: 3600 },
  ],
  taskDefaults: { type: 'reactive' },
}
const SHOWN = [
  'name',
  'description',
  'tags',
  'variables',
  'sensors',
  'relations',
  'actuators',
  'triggers',
  'notes',
  'taskDefaults',
] as const
const SETTLED = 250

interface Stored {
  readonly text: string
  /** of a stored template; undefined: the draft is new */
  readonly name: string | undefined
  readonly revision: number | undefined
}

type Json = Readonly<Record<string, unknown>>

function shownOf(entity: object): string {
  const fields = entity as Json
  const kept = SHOWN.flatMap((name) => {
    const value = fields[name]
    const isEmpty =
      value === undefined || (typeof value === 'object' && value !== null && Object.keys(value).length === 0)
    return isEmpty ? [] : [[name, value] as const]
  })
  return written(Object.fromEntries(kept))
}

async function load(template: string | null, task: string | null): Promise<Stored> {
  if (template !== null) {
    const entity = await api.rules.templates.get(template, 'simplified')
    return { text: shownOf(entity), name: template, revision: entity.revision }
  }
  if (task !== null) {
    const { name, network = {}, type } = await api.rules.tasks.get(task, { format: 'simplified' })
    return {
      text: shownOf({ name: name.replaceAll(/[^\w-]+/g, '-'), ...network, taskDefaults: { type } }),
      name: undefined,
      revision: undefined,
    }
  }
  return { text: written(STARTER), name: undefined, revision: undefined }
}

export function Editor() {
  const template = query.value.get('template')
  const task = query.value.get('task')
  const { data, error, reload } = useLoad(() => load(template, task), [template, task])
  if (data === undefined) return <Waiting title="Editor" error={error} retry={reload} />
  return <Draft key={`${template} ${task} ${data.revision}`} stored={data} reload={reload} />
}

function parsed(text: string): { readonly value?: Json; readonly error?: string } {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? { value: value as Json }
      : { error: 'A rule is a JSON object.' }
  } catch (thrown) {
    return { error: messageOf(thrown) }
  }
}

interface Fixable extends EditorProblem {
  readonly fix?: readonly { readonly op: string; readonly path: string; readonly value?: unknown }[]
}

interface Checked {
  readonly text: string
  readonly problems: readonly Fixable[]
  readonly states: NodeStates
  /** of the chosen node */
  readonly why?: ExplanationText
}

/** Checks the draft by a simulation of the resource's last message, and reads the states of that run. */
async function check(text: string, rule: Json, resource: string, node: string | undefined): Promise<Checked> {
  const current = resource === '' ? undefined : await api.broker.messages.current(resource).catch(() => undefined)
  const messages = current === undefined ? [] : [{ ...current, resource }]
  try {
    const { events, explanation } = await api.rules.tools.simulate({
      rule,
      resource: resource === '' ? 'resource' : resource,
      messages,
      ...(node !== undefined && messages.length > 0 && { explain: node }),
    })
    const states = events.reduce<NodeStates>((before, event) => apply(before, event), new Map())
    return { text, problems: [], states, ...(explanation && { why: explanation.text }) }
  } catch (thrown) {
    const { issues = [] } = thrown as { readonly issues?: readonly Fixable[] }
    if (issues.length === 0) throw thrown
    return { text, states: new Map(), problems: issues.map(inRule) }
  }
}

/** Makes paths of the request paths of the rule. */
function inRule({ path, fix, ...rest }: Fixable): Fixable {
  const strip = (from: string): string => from.replace(/^\/rule(?=\/|$)/, '')
  return { ...rest, path: strip(path), ...(fix && { fix: fix.map((one) => ({ ...one, path: strip(one.path) })) }) }
}

function Draft({ stored, reload }: { readonly stored: Stored; reload(): void }) {
  const [history, setHistory] = useState<History>({ texts: [stored.text], at: 0, time: 0 })
  const text = history.texts[history.at] ?? ''
  const { value, error: syntax } = useMemo(() => parsed(text), [text])
  const [rule, setRule] = useState<{ readonly json: Json; readonly view: RuleView }>({ json: {}, view: NO_RULE })
  const [checked, setChecked] = useState<Checked | undefined>()
  const [problem, setProblem] = useState<string | undefined>()
  const [selected, setSelected] = useState<string | undefined>()
  const [resource, setResource] = useState('')
  const resources = useLoad(() => api.resources.resources.list({ limit: 100 }), []).data?.values ?? []
  const plugs =
    useLoad(async () => [...(await api.rules.tools.plugs('sensors')), ...(await api.rules.tools.plugs('actions'))], [])
      .data ?? []
  const isNarrow = useIsNarrow()
  const [round, setRound] = useState(0)
  const change = (next: string, isStep: boolean): void => {
    setHistory((before) => recorded(before, next, Date.now(), isStep))
    if (isStep) setRound((before) => before + 1)
  }
  const step = (by: -1 | 1): void => {
    setHistory((before) => ({
      ...before,
      at: Math.min(before.texts.length - 1, Math.max(0, before.at + by)),
      time: 0,
    }))
    setRound((before) => before + 1)
  }
  useEffect(() => {
    if (value !== undefined) setRule({ json: value, view: readRule(value) })
    if (value === undefined) return undefined
    let isCurrent = true
    const timer = setTimeout(() => {
      check(text, value, resource, selected).then(
        (found) => isCurrent && (setChecked(found), setProblem(undefined)),
        (thrown: unknown) => isCurrent && setProblem(messageOf(thrown)),
      )
    }, SETTLED)
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [text, resource, selected])
  const problems = checked?.text === text ? checked.problems : undefined
  const mend = ({ fix = [] }: Fixable): void => {
    if (value !== undefined) change(written(patched(value, fix)), true)
  }
  const fixable = problems?.find(({ fix }) => fix !== undefined)
  useKeys(
    [
      { keys: 'Ctrl+Z', does: 'undo', run: () => step(-1) },
      { keys: 'Ctrl+Shift+Z', does: 'redo', run: () => step(1) },
      { keys: '.', does: 'fix the first problem', run: () => fixable && mend(fixable) },
    ],
    [text, fixable],
  )
  const diagnostics = useMemo(
    () =>
      (problems ?? []).map((one) => ({
        ...spanOf(text, one.path),
        severity: one.severity === 'ERROR' ? ('error' as const) : ('warning' as const),
        message: problemText(one),
      })),
    [problems, text],
  )
  const marked = new Map(
    (problems ?? []).flatMap((one) => {
      const node = nodeOf(one.path, rule.json)
      return node === undefined ? [] : [[node, one.message] as const]
    }),
  )
  const at = useMemo(() => (selected === undefined ? undefined : nodePlace(text, rule.json, selected)), [selected])
  const isBroken =
    syntax !== undefined || problems === undefined || problems.some(({ severity }) => severity === 'ERROR')
  return (
    <>
      <Answer
        title={editorAnswer(problems, syntax)}
        more={
          stored.name === undefined
            ? 'A draft that nothing uses yet. Save it as a template; tasks run it.'
            : `The template ${stored.name}. A save makes a new version; its tasks keep theirs until they are reloaded.`
        }
      >
        <button
          type="button"
          class="quiet square"
          aria-label="Undo"
          disabled={history.at === 0}
          onClick={() => step(-1)}
        >
          <Icon name="undo" />
        </button>
        <button
          type="button"
          class="quiet square"
          aria-label="Redo"
          disabled={history.at === history.texts.length - 1}
          onClick={() => step(1)}
        >
          <Icon name="redo" />
        </button>
        {stored.name !== undefined && (
          <a class="button" href={withQuery(to('rehearsal'), { template: stored.name })}>
            Rehearse
          </a>
        )}
        {may('author') && (
          <Save
            stored={stored}
            value={value}
            isBroken={isBroken}
            isChanged={text !== stored.text || stored.name === undefined}
            reload={reload}
          />
        )}
      </Answer>
      <Problem text={problem} />
      <div class="editor">
        <div class="stack">
          <Panel
            title="Graph"
            aside={
              <AddNode
                plugs={plugs}
                add={(node, kind) => value !== undefined && change(written(withNode(value, node, kind)), true)}
              />
            }
          >
            <div class="graph-frame">
              <RuleGraph
                rule={rule.view}
                states={checked?.states ?? new Map()}
                instant={Date.now()}
                zone={zone.value}
                isNarrow={isNarrow}
                selected={selected}
                problems={marked}
                onSelect={setSelected}
              />
            </div>
          </Panel>
          <Panel
            title="Problems"
            aside={
              syntax ??
              (problems === undefined ? 'checking …' : problems.length === 0 ? 'none' : String(problems.length))
            }
          >
            {problems?.length === 0 && syntax === undefined && (
              <p class="pad second">The host can run this rule as it stands.</p>
            )}
            <ul class="items">
              {(problems ?? []).map((one, index) => (
                <li class="item" key={index}>
                  <span class={one.severity === 'ERROR' ? 'bad' : ''}>
                    <Icon name="problem" />
                  </span>
                  <div>
                    <div>{problemText(one)}</div>
                    <div class="sub">
                      <code>{one.path === '' ? 'the whole rule' : one.path}</code>
                    </div>
                  </div>
                  {one.fix?.[0] !== undefined && (
                    <div class="actions">
                      <button type="button" class="small" onClick={() => mend(one)}>
                        {fixText(one.fix[0])} {one === fixable && <kbd>.</kbd>}
                      </button>
                    </div>
                  )}
                </li>
              ))}
            </ul>
          </Panel>
          <Panel title="Try it" aside="on the last reading of a resource; nothing is called">
            <div class="pad stack">
              <label>
                Resource
                <select value={resource} onChange={({ currentTarget }) => setResource(currentTarget.value)}>
                  <option value="">none: states are unknown</option>
                  {resources.map(({ id }) => (
                    <option key={id}>{id}</option>
                  ))}
                </select>
              </label>
              {checked?.why !== undefined ? (
                <Why text={checked.why} />
              ) : (
                resource !== '' && <p class="second">Choose a node of the graph to see its reason.</p>
              )}
            </div>
          </Panel>
        </div>
        <Panel title="JSON" aside="one document with the graph">
          <JsonEditor
            text={text}
            round={round}
            diagnostics={diagnostics}
            names={plugs.map(({ name }) => name)}
            at={at}
            onChange={(next) => change(next, false)}
          />
        </Panel>
      </div>
    </>
  )
}

/** Marks at least one sign, so that an empty place can be seen. */
function spanOf(text: string, path: string): { readonly from: number; readonly to: number } {
  const { from, to } = placeOf(text, path)
  const end = path === '' ? Math.min(from + 1, text.length) : to
  return { from, to: Math.max(end, Math.min(from + 1, text.length)) }
}

function nodePlace(
  text: string,
  rule: Json,
  label: string,
): { readonly from: number; readonly to: number } | undefined {
  for (const list of ['sensors', 'relations', 'actuators']) {
    const index = ((rule[list] as readonly Json[] | undefined) ?? []).findIndex((node) => node['label'] === label)
    if (index >= 0) return placeOf(text, `/${list}/${index}`)
  }
  return undefined
}

function withNode(rule: Json, node: Json, kind: 'sensors' | 'actuators'): Json {
  const list = (rule[kind] as readonly Json[] | undefined) ?? []
  return { ...rule, [kind]: [...list, node] }
}

/** Adds a node of a plug, with its mandatory properties. */
function AddNode({
  plugs,
  add,
}: {
  readonly plugs: readonly PlugEntity[]
  add(node: Json, kind: 'sensors' | 'actuators'): void
}) {
  const choose = (value: string): void => {
    const plug = plugs.find(({ name, type }) => `${type} ${name}` === value)
    if (plug === undefined) return
    const mandatory = plug.configuration.filter((field) => field.mandatory)
    const properties = Object.fromEntries(
      mandatory.map(({ name, defaultValue, type }) => [
        name,
        defaultValue ?? (type === 'string' ? '' : type === 'boolean' ? false : 0),
      ]),
    )
    const label = `${plug.name}_${Date.now().toString(36).slice(-4)}`
    add(
      {
        label,
        name: plug.name,
        ...(plug.type === 'sensor' && { resource: '$' }),
        ...(mandatory.length > 0 && { properties }),
      },
      plug.type === 'sensor' ? 'sensors' : 'actuators',
    )
    done(`${label} is added`)
  }
  return (
    <select
      aria-label="Add a node"
      class="small"
      value=""
      onChange={({ currentTarget }) => (choose(currentTarget.value), (currentTarget.value = ''))}
    >
      <option value="">Add a node …</option>
      {(['sensor', 'actuator'] as const).map((type) => (
        <optgroup key={type} label={type === 'sensor' ? 'Sensors' : 'Actuators'}>
          {plugs
            .filter((plug) => plug.type === type)
            .map(({ name, description = '' }) => (
              <option key={name} value={`${type} ${name}`} title={description}>
                {name}
              </option>
            ))}
        </optgroup>
      ))}
    </select>
  )
}

interface SaveProps {
  readonly stored: Stored
  readonly value: Json | undefined
  readonly isBroken: boolean
  readonly isChanged: boolean
  reload(): void
}

function Save({ stored, value, isBroken, isChanged, reload }: SaveProps) {
  const [isBusy, setBusy] = useState(false)
  const save = async (): Promise<void> => {
    if (value === undefined) return
    setBusy(true)
    try {
      const specification = value as unknown as { readonly name: string }
      if (stored.name === undefined) {
        await api.rules.templates.create(specification)
        done(`Saved as ${specification.name}`)
        go(withQuery(to('editor'), { template: specification.name }))
      } else {
        const { version } = await api.rules.templates.replace(
          stored.name,
          specification,
          stored.revision === undefined ? {} : { ifRevision: stored.revision },
        )
        done(`Saved as version ${version}`)
        reload()
      }
    } catch (thrown) {
      const isConflict = (thrown as { readonly code?: string }).code === 'PRECONDITION'
      done(
        isConflict
          ? 'Not saved: another user has changed the template. Copy your text, reload the page, and apply it there.'
          : `Not saved: ${messageOf(thrown)}`,
      )
    }
    setBusy(false)
  }
  const isOff = isBroken || !isChanged || isBusy
  return (
    <button
      type="button"
      class="primary"
      aria-disabled={isOff}
      title={isBroken ? 'The problems below have to be fixed first' : undefined}
      onClick={() => !isOff && void save()}
    >
      {stored.name === undefined ? 'Save as template' : 'Save'}
    </button>
  )
}
