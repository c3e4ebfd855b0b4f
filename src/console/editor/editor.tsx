/** The rule editor: one document as graph, forms and JSON, with its problems where they are, their fixes, and undo. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import { NO_RULE, readRule, type RuleView } from '../graph/rule-view.ts'
import { RuleGraph } from '../graph/rule-graph.tsx'
import { edgesOf, matchOf } from '../graph/node-states.ts'
import { useKeys } from '../keys.ts'
import { useLoad } from '../loading.ts'
import { Icon } from '../parts/icons.tsx'
import { Answer, Panel, Problem, Waiting } from '../parts/layout.tsx'
import { useIsNarrow } from '../parts/narrow.ts'
import { query, to, withQuery } from '../router.ts'
import { api, may } from '../session.ts'
import { zone } from '../settings.ts'
import { useUnits } from '../units.ts'
import { editorAnswer, fixText, nodeOf, problemText } from '../words/editor.ts'
import { messageOf } from '../words/errors.ts'
import { Conflict, type Theirs } from './conflict.tsx'
import { type History, patched, placeOf, recorded, written } from './document.ts'
import { type Checked, checkDraft, type Fixable } from './draft-check.ts'
import { JsonEditor } from './json-editor.tsx'
import { NodeForm } from './node-form.tsx'
import { Palette } from './palette.tsx'
import { type Json, nodeAt } from './rule-edits.ts'
import { Save } from './save.tsx'
import { TryPanel, type Typed, valuesOf } from './try-panel.tsx'

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

/** How often the newest version of the template is looked up, ms */
const FOLLOW = 10_000
/** How often the newest reading is, ms */
const READ = 2_000

interface Stored {
  readonly text: string
  /** of a stored template; undefined: the draft is new */
  readonly name: string | undefined
  readonly revision: number | undefined
  /** of the stored template */
  readonly version?: Omit<Theirs, 'json'>
}

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
    const { revision, version, user, lastUpdateTime: time } = entity
    return { text: shownOf(entity), name: template, revision, version: { version, user, time } }
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

/** Returns a resource on which the rule makes sense: that of its task, or the first one. */
async function resourceFor(template: string | null, task: string | null): Promise<string> {
  if (task !== null) return (await api.rules.tasks.get(task, { format: 'simplified' })).resource ?? ''
  if (template !== null) {
    const shown = { format: 'simplified', withoutGraph: true } as const
    const { values } = await api.rules.tasks.list({ where: { template }, hits: 1, startIndex: 0 }, shown)
    if (values[0]?.resource !== undefined) return values[0].resource
  }
  return (await api.resources.resources.list({ limit: 1 })).values[0]?.id ?? ''
}

/** Returns the newest values of the resource as one message; undefined if it has sent nothing. */
async function readingOf(resource: string): Promise<Json | undefined> {
  const latest = resource === '' ? [] : await api.broker.series.list(resource)
  if (latest.length === 0) return undefined
  const values = Object.fromEntries(latest.map(({ metric, value }) => [metric, value]))
  return { ...values, timestamp: Math.max(...latest.map(({ time }) => time)) }
}

interface Work {
  readonly history: History
  /** what is stored, and the draft is based on */
  readonly base: Stored
}

/** Drafts that were begun in this tab; they outlast other screens and a new login. */
const begun = new Map<string, Work>()

export function Editor() {
  const template = query.value.get('template')
  const task = query.value.get('task')
  const { data, error, reload } = useLoad(
    () => load(template, task),
    [template, task],
    template === null ? undefined : FOLLOW,
  )
  if (data === undefined) return <Waiting title="Editor" error={error} retry={reload} />
  return <Draft key={`${template} ${task}`} id={`${template} ${task}`} template={template} task={task} newest={data} />
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

interface DraftProps {
  readonly id: string
  readonly template: string | null
  readonly task: string | null
  readonly newest: Stored
}

function Draft({ id, template, task, newest }: DraftProps) {
  const [{ history, base }, setWork] = useState<Work>(
    () => begun.get(id) ?? { history: { texts: [newest.text], at: 0, time: 0 }, base: newest },
  )
  const text = history.texts[history.at] ?? ''
  const { value, error: syntax } = useMemo(() => parsed(text), [text])
  const [rule, setRule] = useState<{ readonly json: Json; readonly view: RuleView }>({ json: {}, view: NO_RULE })
  const [checked, setChecked] = useState<Checked | undefined>()
  const [problem, setProblem] = useState<string | undefined>()
  const [selected, setSelected] = useState<string | undefined>()
  const [isAdding, setAdding] = useState(false)
  const [isComparing, setComparing] = useState(false)
  const [chosenResource, setResource] = useState<string | undefined>()
  const [typed, setTyped] = useState<Typed>({})
  const [variables, setVariables] = useState<Typed>({})
  const suggested = useLoad(() => resourceFor(template, task), [template, task]).data
  const resource = chosenResource ?? suggested ?? ''
  const reading = useLoad(() => readingOf(resource), [resource], READ).data
  const units = useUnits(resource)
  const resources = useLoad(() => api.resources.resources.list({ limit: 100 }), []).data?.values ?? []
  const plugs =
    useLoad(async () => [...(await api.rules.tools.plugs('sensors')), ...(await api.rules.tools.plugs('actions'))], [])
      .data ?? []
  const isNarrow = useIsNarrow()
  const [round, setRound] = useState(0)
  const change = (next: string, isStep: boolean): void => {
    setWork((before) => ({ ...before, history: recorded(before.history, next, Date.now(), isStep) }))
    if (isStep) setRound((before) => before + 1)
  }
  const changeRule = (next: Json, label?: string): void => {
    change(written(next), true)
    setSelected(label)
  }
  const step = (by: -1 | 1): void => {
    setWork((before) => {
      const at = Math.min(before.history.texts.length - 1, Math.max(0, before.history.at + by))
      return { ...before, history: { ...before.history, at, time: 0 } }
    })
    setRound((before) => before + 1)
  }
  useEffect(() => void begun.set(id, { history, base }), [history, base])
  const isChanged = text !== base.text
  const isBehind = (newest.revision ?? 0) > (base.revision ?? 0)
  const rebase = (next: string): void => {
    change(next, true)
    setWork((before) => ({ ...before, base: newest }))
    setComparing(false)
  }
  useEffect(() => {
    if (isBehind && !isChanged) rebase(newest.text)
  }, [isBehind, isChanged])
  const message =
    reading === undefined && Object.keys(typed).length === 0 ? undefined : { ...reading, ...valuesOf(typed) }
  const tried = JSON.stringify([message, variables])
  useEffect(() => {
    if (value !== undefined) setRule({ json: value, view: readRule(value) })
    if (value === undefined) return undefined
    let isCurrent = true
    const timer = setTimeout(() => {
      checkDraft(text, value, selected, { resource, message, variables: valuesOf(variables) }).then(
        (found) => isCurrent && (setChecked(found), setProblem(undefined)),
        (thrown: unknown) => isCurrent && setProblem(messageOf(thrown)),
      )
    }, SETTLED)
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [text, resource, selected, tried])
  const problems = checked?.text === text ? checked.problems : undefined
  const mend = ({ fix = [] }: Fixable): void => {
    if (value !== undefined) change(written(patched(value, fix)), true)
  }
  const fixable = problems?.find(({ fix }) => fix !== undefined)
  useKeys([
    { keys: 'Ctrl+Z', does: 'undo', run: () => step(-1) },
    { keys: 'Ctrl+Shift+Z', does: 'redo', run: () => step(1) },
    { keys: '/', does: 'add a node', run: () => setAdding(true) },
    { keys: '.', does: 'fix the first problem', run: () => fixable && mend(fixable) },
  ])
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
  const at = useMemo(() => {
    const found = nodeAt(value ?? rule.json, selected)
    return found === undefined ? undefined : placeOf(text, `/${found.list}/${found.index}`)
  }, [selected])
  const isBroken =
    syntax !== undefined || problems === undefined || problems.some(({ severity }) => severity === 'ERROR')
  const states = checked?.states ?? new Map()
  const now = Date.now()
  const chosen = rule.view.nodes.find(({ label }) => label === selected)
  return (
    <>
      <Answer
        title={editorAnswer(problems, syntax)}
        more={
          base.name === undefined
            ? 'A draft that nothing uses yet. Save it as a template; tasks run it.'
            : `The template ${base.name}. A save makes a new version; its tasks keep theirs until they are reloaded.`
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
        {base.name !== undefined && (
          <a class="button" href={withQuery(to('rehearsal'), { template: base.name })}>
            Rehearse
          </a>
        )}
        {may('author') && (
          <Save
            name={base.name}
            revision={base.revision}
            value={value}
            isBroken={isBroken}
            isChanged={isChanged || base.name === undefined}
            onSaved={(revision) => setWork((before) => ({ ...before, base: { ...base, text, revision } }))}
            onCreated={() => begun.delete(id)}
            onConflict={() => setComparing(true)}
          />
        )}
      </Answer>
      <Problem text={problem} />
      {isBehind && isChanged && newest.version !== undefined && !isComparing && (
        <div class="note row" role="status">
          {newest.version.user} has saved version {newest.version.version} meanwhile.
          <button type="button" class="small" onClick={() => setComparing(true)}>
            Compare
          </button>
        </div>
      )}
      {isComparing && isBehind && value !== undefined && newest.version !== undefined && (
        <div class="above">
          <Conflict
            base={parsed(base.text).value ?? {}}
            theirs={{ ...newest.version, json: parsed(newest.text).value ?? {} }}
            yours={value}
            take={(next) => rebase(written(next))}
            onClose={() => setComparing(false)}
          />
        </div>
      )}
      <div class="editor">
        <div class="stack">
          <Panel
            title="Graph"
            aside={
              <button type="button" class="small" onClick={() => setAdding(true)}>
                Add node <kbd>/</kbd>
              </button>
            }
          >
            <div class="graph-frame">
              <RuleGraph
                rule={rule.view}
                states={states}
                instant={now}
                zone={zone.value}
                isNarrow={isNarrow}
                selected={selected}
                problems={marked}
                units={units}
                onSelect={setSelected}
              />
            </div>
          </Panel>
          {chosen !== undefined && (
            <NodeForm
              key={chosen.label}
              rule={rule.json}
              label={chosen.label}
              plugs={plugs}
              checked={checked}
              match={
                message === undefined
                  ? undefined
                  : matchOf(chosen.label, chosen.kind, edgesOf(rule.view, states, now), states)
              }
              units={units}
              metrics={Object.keys(reading ?? {}).filter((name) => name !== 'resource' && name !== 'timestamp')}
              change={changeRule}
            />
          )}
          <Problems text={syntax} list={problems} first={fixable} mend={mend} />
          <TryPanel
            rule={rule.json}
            checked={checked}
            selected={selected}
            resources={resources.map(({ id: one }) => one)}
            resource={resource}
            units={units}
            reading={reading}
            typed={typed}
            variables={variables}
            onResource={(next) => (setResource(next), setTyped({}))}
            onTyped={setTyped}
            onVariables={setVariables}
            onRule={(next) => changeRule(next, selected)}
          />
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
      {isAdding && <Palette plugs={plugs} rule={rule.json} add={changeRule} onClose={() => setAdding(false)} />}
    </>
  )
}

interface ProblemsProps {
  /** why the text is not JSON */
  readonly text: string | undefined
  readonly list: readonly Fixable[] | undefined
  readonly first: Fixable | undefined
  mend(problem: Fixable): void
}

function Problems({ text, list, first, mend }: ProblemsProps) {
  return (
    <Panel
      title="Problems"
      aside={text ?? (list === undefined ? 'checking …' : list.length === 0 ? 'none' : String(list.length))}
    >
      {list?.length === 0 && text === undefined && <p class="pad second">The host can run this rule as it stands.</p>}
      <ul class="items">
        {(list ?? []).map((one, index) => (
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
                  {fixText(one.fix[0])} {one === first && <kbd>.</kbd>}
                </button>
              </div>
            )}
          </li>
        ))}
      </ul>
    </Panel>
  )
}

/** Marks at least one sign, so that an empty place can be seen. */
function spanOf(text: string, path: string): { readonly from: number; readonly to: number } {
  const { from, to } = placeOf(text, path)
  const end = path === '' ? Math.min(from + 1, text.length) : to
  return { from, to: Math.max(end, Math.min(from + 1, text.length)) }
}
