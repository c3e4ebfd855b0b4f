/** Icons: lines of 16 by 16. */
const PATHS = {
  overview: 'M1.5 8h3l2-5 3 10 2-5h3',
  alarm: 'M8 2a4 4 0 0 0-4 4c0 4-1.5 5-1.5 5h11S12 10 12 6a4 4 0 0 0-4-4ZM6.6 13.5a1.5 1.5 0 0 0 2.8 0',
  resource: 'M8 1.8 13.5 5v6L8 14.2 2.5 11V5L8 1.8ZM2.5 5 8 8.2 13.5 5M8 8.2v6',
  data: 'M2 2v12h12M4.5 10l3-4 2.5 2.5L14 4',
  task: 'M2 3h4v3H2zM2 10h4v3H2zM11 6.5h3.5v3H11zM6 4.5h2.5v7H6M8.5 8H11',
  editor: 'm10.5 3 2.5 2.5-7.5 7.5-3 .5.5-3L10.5 3Z',
  rehearsal: 'M3 4.2A6 6 0 1 1 2 8M3 1.5v3h3M8 5v3.2l2.2 1.3',
  operations: 'M2 4h7M13 4h1M2 8h2M8 8h6M2 12h6M12 12h2M11 2.5v3M6 6.5v3M10 10.5v3',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10ZM10.7 10.7 14 14',
  settings: 'M8 2a6 6 0 1 0 0 12V2ZM8 2a6 6 0 0 1 0 12',
  sensor: 'M8 9.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3ZM4.8 4.8a4.5 4.5 0 0 0 0 6.4M11.2 4.8a4.5 4.5 0 0 1 0 6.4',
  gate: 'M4 3h4a5 5 0 0 1 0 10H4V3Z',
  actuator: 'M9 1.5 3.5 9H8l-1 5.5L12.5 7H8l1-5.5Z',
  problem: 'M8 2 14.5 13.5h-13L8 2ZM8 6.5v3.5M8 11.8v.2',
  check: 'm3 8.5 3.5 3.5L13 4.5',
  timer: 'M8 14A5 5 0 1 0 8 4a5 5 0 0 0 0 10ZM6.5 1.5h3M8 6.5V9',
  back: 'M12.5 3 7 8l5.5 5M4 3v10',
  forward: 'M3.5 3 9 8l-5.5 5M12 3v10',
  close: 'm4 4 8 8M12 4l-8 8',
  copy: 'M5.5 5.5V2.5h8v8h-3M2.5 5.5h8v8h-8z',
  undo: 'M3 6h7a3.5 3.5 0 0 1 0 7H6M6 3 3 6l3 3',
  redo: 'M13 6H6a3.5 3.5 0 0 0 0 7h4M10 3l3 3-3 3',
  user: 'M8 8a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM2.5 14c.5-3 2.5-4.5 5.5-4.5s5 1.5 5.5 4.5',
  template: 'M3 2h10v4H3zM3 9h4v5H3zM10 9h3v5h-3z',
  mail: 'M2 3.5h12v9H2zM2 4l6 5 6-5',
  more: 'M3 8h.01M8 8h.01M13 8h.01',
} as const

export type IconName = keyof typeof PATHS

export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg class="icon" width={size} height={size} viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  )
}

/** The path of an icon, for drawing inside a picture. */
export function Glyph({ name, x, y }: { readonly name: IconName; readonly x: number; readonly y: number }) {
  return <path class="icon glyph" d={PATHS[name]} transform={`translate(${x} ${y})`} />
}

export function Logo() {
  return (
    <svg class="icon" width="24" height="24" viewBox="0 0 24 24" aria-hidden="true">
      <path d="M5 18c0-8 14-4 14-12" stroke-width="2" />
      <circle cx="5" cy="18.5" r="2.5" class="hollow" stroke-width="2" />
      <circle cx="19" cy="5.5" r="3" class="full" />
    </svg>
  )
}
