/** A text editor for JSON by CodeMirror, in a shadow root, whose styles the content security policy allows. */
import { autocompletion, type CompletionContext, type CompletionResult } from '@codemirror/autocomplete'
import { defaultKeymap } from '@codemirror/commands'
import { json } from '@codemirror/lang-json'
import { bracketMatching, foldGutter, syntaxTree } from '@codemirror/language'
import { lintGutter, setDiagnostics, type Diagnostic } from '@codemirror/lint'
import { EditorState, RangeSetBuilder } from '@codemirror/state'
import {
  Decoration,
  type DecorationSet,
  drawSelection,
  EditorView,
  highlightActiveLine,
  keymap,
  lineNumbers,
  ViewPlugin,
  type ViewUpdate,
} from '@codemirror/view'
import { useEffect, useRef } from 'preact/hooks'

export interface JsonEditorProps {
  readonly text: string
  /** changes when `text` was changed elsewhere; while it stays, typing is ahead of `text` */
  readonly round: number
  readonly diagnostics: readonly Diagnostic[]
  /** names offered as values of `name` */
  readonly names: readonly string[]
  /** place to show, such as that of the chosen node */
  readonly at: { readonly from: number; readonly to: number } | undefined
  onChange(text: string): void
}

const CLASSES: Readonly<Record<string, string>> = {
  PropertyName: 'key',
  String: 'text',
  Number: 'number',
  True: 'number',
  False: 'number',
  Null: 'number',
}

/** Colours by the names of nodes in the tree. */
const colors = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet
    constructor(view: EditorView) {
      this.decorations = marks(view)
    }
    update({ docChanged, viewportChanged, view, startState, state }: ViewUpdate): void {
      if (docChanged || viewportChanged || syntaxTree(startState) !== syntaxTree(state)) this.decorations = marks(view)
    }
  },
  { decorations: ({ decorations }) => decorations },
)

function marks(view: EditorView): DecorationSet {
  const builder = new RangeSetBuilder<Decoration>()
  for (const { from, to } of view.visibleRanges) {
    syntaxTree(view.state).iterate({
      from,
      to,
      enter: ({ name, from: start, to: end }) => {
        const name2 = CLASSES[name]
        if (name2 !== undefined) builder.add(start, end, Decoration.mark({ class: `token-${name2}` }))
      },
    })
  }
  return builder.finish()
}

const theme = EditorView.theme({
  '&': { height: '100%', fontSize: '0.75rem', color: 'var(--text)', backgroundColor: 'transparent' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--font-mono)', lineHeight: '1.55' },
  '.cm-content': { caretColor: 'var(--text)', padding: '0.5rem 0' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--text-3)', border: 'none' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--surface-hover)' },
  '.cm-selectionBackground, &.cm-focused .cm-selectionBackground': { backgroundColor: 'var(--accent-soft) !important' },
  '.cm-matchingBracket': { backgroundColor: 'var(--accent-soft)', outline: '1px solid var(--accent)' },
  '.cm-tooltip': {
    backgroundColor: 'var(--surface-raised)',
    border: '1px solid var(--line)',
    borderRadius: '6px',
    fontFamily: 'var(--font-text)',
  },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--accent-soft)', color: 'var(--text)' },
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--problem)',
    textUnderlineOffset: '3px',
  },
  '.cm-lintRange-warning': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--major)',
    textUnderlineOffset: '3px',
  },
  '.cm-foldPlaceholder': {
    backgroundColor: 'var(--surface-hover)',
    border: '1px solid var(--line)',
    color: 'var(--text-2)',
  },
  '.token-key': { color: 'var(--code-key)' },
  '.token-text': { color: 'var(--code-text)' },
  '.token-number': { color: 'var(--code-number)' },
})

export function JsonEditor(props: JsonEditorProps) {
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView | undefined>(undefined)
  const latest = useRef(props)
  latest.current = props
  useEffect(() => {
    const { current } = host
    if (current === null) return undefined
    const root = current.shadowRoot ?? current.attachShadow({ mode: 'open' })
    const parent = document.createElement('div')
    parent.style.height = '100%'
    root.replaceChildren(parent)
    const complete = (context: CompletionContext): CompletionResult | null => {
      const before = context.matchBefore(/"name":\s*"[\w-]*/)
      if (before === null) return null
      const from = before.from + before.text.lastIndexOf('"') + 1
      return { from, options: latest.current.names.map((label) => ({ label, type: 'keyword' })) }
    }
    const made = new EditorView({
      parent,
      root,
      state: EditorState.create({
        doc: latest.current.text,
        extensions: [
          lineNumbers(),
          foldGutter(),
          lintGutter(),
          drawSelection(),
          EditorView.lineWrapping,
          highlightActiveLine(),
          bracketMatching(),
          json(),
          colors,
          theme,
          autocompletion({ override: [complete] }),
          keymap.of(defaultKeymap),
          EditorView.contentAttributes.of({ 'aria-label': 'JSON of the rule', tabindex: '0' }),
          EditorView.updateListener.of(({ docChanged, state }) => {
            const text = state.doc.toString()
            if (docChanged && text !== latest.current.text) latest.current.onChange(text)
          }),
        ],
      }),
    })
    view.current = made
    return () => made.destroy()
  }, [])
  useEffect(() => {
    const { current } = view
    if (current === undefined || current.state.doc.toString() === props.text) return
    current.dispatch({ changes: { from: 0, to: current.state.doc.length, insert: props.text } })
  }, [props.round])
  useEffect(() => {
    const { current } = view
    if (current === undefined) return
    const { length } = current.state.doc
    const valid = props.diagnostics.filter(({ to }) => to <= length)
    current.dispatch(setDiagnostics(current.state, valid))
  }, [props.diagnostics])
  useEffect(() => {
    const { current } = view
    const { at } = props
    if (current === undefined || at === undefined || at.to > current.state.doc.length) return
    current.dispatch({
      selection: { anchor: at.from, head: at.to },
      effects: EditorView.scrollIntoView(at.from, { y: 'center' }),
    })
  }, [props.at?.from, props.at?.to])
  return <div class="json-editor" ref={host} />
}
