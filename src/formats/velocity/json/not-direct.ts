/** Signals that only the rendered text can decide its value or its fault. */
export class NotDirect extends Error {}
