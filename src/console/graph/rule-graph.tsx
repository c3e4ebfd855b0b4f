/** Draws a rule with the states of its nodes at one instant. Each node is a button. */
import { useMemo } from 'preact/hooks'
import { Glyph } from '../parts/icons.tsx'
import { MatchShape, type Match } from '../parts/marks.tsx'
import { NO_UNITS, type Units } from '../words/units.ts'
import { cut, quantityText } from '../words/numbers.ts'
import { metricOf, propertyText, triggersText } from '../words/rules.ts'
import { lengthText, timeText } from '../words/times.ts'
import { GUTTER, layered, NODE_WIDTH, stacked } from './layout.ts'
import { coolsUntil, edgesOf, matchOf, type NodeState, type NodeStates, type ViewEdge } from './node-states.ts'
import type { RuleView, ViewNode } from './rule-view.ts'

export interface RuleGraphProps {
  readonly rule: RuleView
  readonly states: NodeStates
  readonly instant: number
  readonly zone: string
  readonly isNarrow: boolean
  readonly selected?: string | undefined
  /** by label: what is wrong with the node */
  readonly problems?: ReadonlyMap<string, string>
  readonly units?: Units
  onSelect(label: string): void
}

interface Line {
  readonly text: string
  readonly end?: string
  readonly mark?: Match
  readonly isLoud?: boolean
  readonly glyph?: 'pause'
}

const LINE = 18.5
const HEAD = 28
const MAX_ROWS = 6

/** Number of lines below the label; known before the layout. */
function lineCount(node: ViewNode): number {
  return node.kind === 'gate' ? Math.min(node.parents.length, MAX_ROWS) + 1 : 3
}

export function RuleGraph(props: RuleGraphProps) {
  const { rule, states, instant, zone, isNarrow, selected, problems, units = NO_UNITS, onSelect } = props
  const links = useMemo(
    () => [
      ...rule.nodes.flatMap(({ label, parents }) => parents.map((from) => ({ from, to: label }))),
      ...rule.triggers.map(({ source, destination }) => ({ from: source, to: destination })),
    ],
    [rule],
  )
  const placed = useMemo(() => {
    const nodes = rule.nodes.map((node) => ({ label: node.label, height: HEAD + lineCount(node) * LINE + 8 }))
    return isNarrow ? stacked(nodes) : layered(nodes, links)
  }, [rule, links, isNarrow])
  const edges = edgesOf(rule, states, instant)
  const heights = new Map(rule.nodes.map((node) => [node.label, HEAD + lineCount(node) * LINE + 8]))
  const width = isNarrow ? NODE_WIDTH + 78 : NODE_WIDTH
  return (
    <svg
      class={`graph${placed.width < 1_200 ? ' fits' : ''}`}
      width={placed.width}
      height={placed.height}
      viewBox={`0 0 ${placed.width} ${placed.height}`}
      role="group"
      aria-label="Graph of the rule. Each node is a button that shows its reason."
    >
      {edges.map((edge) => {
        const [from, to] = [placed.at.get(edge.from), placed.at.get(edge.to)]
        if (from === undefined || to === undefined) return null
        const start = { x: from.x, y: from.y + (heights.get(edge.from) ?? 0) / 2 }
        const end = { x: to.x, y: to.y + (heights.get(edge.to) ?? 0) / 2 }
        return <Edge key={`${edge.from} ${edge.to}`} edge={edge} start={start} end={end} isNarrow={isNarrow} />
      })}
      {rule.nodes.map((node) => {
        const at = placed.at.get(node.label)
        if (at === undefined) return null
        const state = states.get(node.label) ?? { state: null }
        const match = matchOf(node.label, node.kind, edges, states)
        const problem = problems?.get(node.label)
        return (
          <Node
            key={node.label}
            node={node}
            x={at.x}
            y={at.y}
            width={width}
            height={heights.get(node.label) ?? 0}
            match={match}
            lines={linesOf({ node, state, match, edges, rule, states, instant, zone, units })}
            isSelected={node.label === selected}
            problem={problem ?? state.error}
            onSelect={() => onSelect(node.label)}
          />
        )
      })}
    </svg>
  )
}

interface Drawn {
  readonly node: ViewNode
  readonly state: NodeState
  readonly match: Match
  readonly edges: readonly ViewEdge[]
  readonly rule: RuleView
  readonly states: NodeStates
  readonly instant: number
  readonly zone: string
  readonly units: Units
}

function linesOf({ node, state, match, edges, rule, states, instant, zone, units }: Drawn): readonly Line[] {
  const age =
    state.since === undefined ? '' : `for ${state.isLonger === true ? 'over ' : ''}${lengthText(instant - state.since)}`
  if (node.kind === 'actuator') {
    const { firedAt, isCalling = false } = state
    const last = firedAt === undefined ? 'has not fired' : `fired ${lengthText(instant - firedAt)} ago`
    const isHeld = edges.some((edge) => edge.to === node.label && edge.state === 'held')
    const ends = rule.triggers.flatMap((trigger) =>
      trigger.destination === node.label ? (coolsUntil(trigger, states, instant) ?? []) : [],
    )
    return [
      { text: cut(triggersText(rule, node.label), 28) },
      { text: isCalling ? 'fired, call in progress' : last },
      isHeld ? { text: `held until ${timeText(Math.max(...ends), zone, instant)}`, glyph: 'pause' } : { text: '' },
    ]
  }
  if (node.kind === 'gate') {
    const rows = node.parents.slice(0, MAX_ROWS).map((parent, at): Line => {
      if (at === MAX_ROWS - 1 && node.parents.length > MAX_ROWS) return { text: `${node.parents.length - at} more` }
      const edge = edges.find(({ from, to }) => from === parent && to === node.label)
      const mark =
        edge === undefined
          ? 'unknown'
          : edge.state === 'match'
            ? 'match'
            : edge.state === 'unknown'
              ? 'unknown'
              : 'no match'
      return { text: cut(`${parent} ${states.get(parent)?.state ?? 'unknown'}`, 26), mark }
    })
    return [...rows, { text: state.state ?? 'unknown', mark: match, isLoud: true, end: age }]
  }
  const unit = units.get(metricOf(node.properties) ?? '')
  const value = state.value === undefined ? '' : cut(quantityText(state.value, unit), 10)
  const ran = state.ranAt === undefined ? 'has not run' : `read ${lengthText(instant - state.ranAt)} ago`
  return [
    { text: cut(propertyText(node, unit), 28) },
    { text: cut(state.state ?? 'unknown', 16), mark: match, isLoud: true, end: value },
    state.since === undefined
      ? { text: ran }
      : { text: age, end: state.ranAt !== undefined && instant - state.ranAt > 60_000 ? ran : '' },
  ]
}

const MAX_LABEL = 17

interface NodeProps {
  readonly node: ViewNode
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  readonly match: Match
  readonly lines: readonly Line[]
  readonly isSelected: boolean
  readonly problem: string | undefined
  onSelect(): void
}

function Node({ node, x, y, width, height, match, lines, isSelected, problem, onSelect }: NodeProps) {
  const outline = outlineOf(node.kind, width, height)
  const state =
    node.kind === 'actuator' ? '' : match === 'match' ? ' is-match' : match === 'unknown' ? ' is-unknown' : ''
  const pad = node.kind === 'gate' ? 14 : 13
  const isSensor = node.kind === 'sensor'
  const shown = cut(node.label, isSensor ? MAX_LABEL : MAX_LABEL - 2)
  const seen = [
    shown,
    ...(node.kind === 'gate' ? [node.what] : []),
    ...lines.flatMap(({ text, end = '' }) => [text, end]),
  ]
  const spoken = [
    seen.filter(Boolean).join(' '),
    node.kind,
    ...(shown === node.label ? [] : [node.label]),
    ...(problem === undefined ? [] : [problem]),
  ].join(', ')
  return (
    <g
      class={`node${state}${problem === undefined ? '' : ' has-problem'}`}
      transform={`translate(${x} ${y})`}
      role="button"
      tabIndex={0}
      aria-pressed={isSelected}
      onClick={onSelect}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' && event.key !== ' ') return
        event.preventDefault()
        onSelect()
      }}
    >
      <title>{spoken}</title>
      <path class="ring" d={outline} />
      <path class="body" d={outline} />
      <Glyph name={node.kind} x={pad - 2} y={9} />
      <text class="label" x={pad + 20} y={21.5}>
        {shown}
      </text>
      {node.kind === 'gate' && (
        <text class="row loud" x={width - pad} y={21.5} text-anchor="end">
          {node.what}
        </text>
      )}
      {lines.map(({ text, end = '', mark, isLoud = false, glyph }, index) => {
        const base = HEAD + LINE * index + 12.5
        const indent = mark === undefined && glyph === undefined ? 0 : 18
        return (
          <g key={index} class="mark">
            {mark !== undefined && <MatchShape match={mark} x={pad + 5} y={base - 4} />}
            {glyph !== undefined && (
              <path class="icon glyph" d="M2 3v8M6 3v8" transform={`translate(${pad + 1} ${base - 11})`} />
            )}
            <text class={`row${isLoud ? ' loud' : ''}`} x={pad + indent} y={base}>
              {text}
            </text>
            {end !== '' && (
              <text class="row" x={width - pad - (node.kind === 'actuator' ? 8 : 0)} y={base} text-anchor="end">
                {end}
              </text>
            )}
          </g>
        )
      })}
      {problem !== undefined && (
        <g class="badge">
          <circle cx={width - 4} cy={3} r={9} />
          <text x={width - 4} y={7.5}>
            !
          </text>
        </g>
      )}
    </g>
  )
}

/** Sensor: round left side. Gate: cut corners. Actuator: an arrow. */
function outlineOf(kind: string, w: number, h: number): string {
  if (kind === 'sensor')
    return `M14 0H${w - 4}a4 4 0 0 1 4 4V${h - 4}a4 4 0 0 1-4 4H14a14 14 0 0 1-14-14V14A14 14 0 0 1 14 0Z`
  if (kind === 'gate') return `M9 0H${w - 9}L${w} 9V${h - 9}L${w - 9} ${h}H9L0 ${h - 9}V9Z`
  return `M5 0H${w - 16}L${w} ${h / 2} ${w - 16} ${h}H5a5 5 0 0 1-5-5V5a5 5 0 0 1 5-5Z`
}

interface Point {
  readonly x: number
  readonly y: number
}

function Edge({
  edge,
  start,
  end,
  isNarrow,
}: {
  readonly edge: ViewEdge
  readonly start: Point
  readonly end: Point
  readonly isNarrow: boolean
}) {
  const tip = 9
  const [x1, y1, x2, y2] = isNarrow
    ? [start.x, start.y + 8, end.x, end.y - 8]
    : [start.x + NODE_WIDTH, start.y, end.x, end.y]
  const bend = isNarrow ? Math.min(GUTTER - 10, 12 + Math.abs(y2 - y1) / 9) : Math.max(30, (x2 - x1) / 2)
  const curve = isNarrow
    ? `M${x1} ${y1}C${x1 - bend * 1.3} ${y1} ${x2 - bend * 1.3} ${y2} ${x2 - tip} ${y2}`
    : `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2 - tip} ${y2}`
  const middle = isNarrow ? { x: x1 - bend, y: (y1 + y2) / 2 } : { x: (x1 + x2) / 2, y: (y1 + y2) / 2 }
  return (
    <g class={`edge is-${edge.state.replace(' ', '-')}`} aria-hidden="true">
      <path d={curve} />
      <path class="tip" d={`M${x2} ${y2}l-${tip}-5v10Z`} />
      {edge.state === 'held' && (
        <g class="pause" transform={`translate(${middle.x} ${middle.y})`}>
          <circle r="8.5" />
          <path d="M-2.2-3.5v7M2.2-3.5v7" />
        </g>
      )}
    </g>
  )
}
