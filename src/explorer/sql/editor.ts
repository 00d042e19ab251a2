import { autocompletion, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { sql, type SQLNamespace, StandardSQL } from '@codemirror/lang-sql';
import { bracketMatching, HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { Compartment, EditorState } from '@codemirror/state';
import { EditorView, keymap, lineNumbers, placeholder } from '@codemirror/view';
import { tags } from '@lezer/highlight';

export interface Editor {
  text: () => string;
  replace: (text: string) => void;
  /** Sets the views and their columns, for completion. */
  know: (views: SQLNamespace) => void;
  close: () => void;
}

const COLOURS = HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--accent)', fontWeight: '600' },
  { tag: tags.string, color: 'var(--up)' },
  { tag: tags.number, color: 'var(--hue3)' },
  { tag: tags.comment, color: 'var(--muted)', fontStyle: 'italic' },
  { tag: tags.operator, color: 'var(--muted)' },
]);

const THEME = EditorView.theme({
  '&': { color: 'var(--text)', backgroundColor: 'var(--surface)', fontSize: '13px', height: '100%' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-2px' },
  '.cm-content': {
    caretColor: 'var(--text)',
    fontFamily: "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace",
  },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'var(--surface)', color: 'var(--muted)', border: 'none' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': { backgroundColor: 'var(--raised) !important' },
  '.cm-tooltip': { backgroundColor: 'var(--surface)', border: '1px solid var(--line)', color: 'var(--text)' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--accent)', color: 'var(--on-accent)' },
});

/** Handles typing over a selection: Chromium would insert a style attribute, which the CSP blocks and reports. */
const replaceSelection = EditorView.domEventHandlers({
  beforeinput: (event, view) => {
    const { main } = view.state.selection;
    if (event.inputType !== 'insertText' || event.isComposing || event.data === null || main.empty) return false;
    event.preventDefault();
    view.dispatch(view.state.replaceSelection(event.data), { userEvent: 'input.type', scrollIntoView: true });
    return true;
  },
});

/** A SQL editor in a shadow root, whose adopted style sheets a CSP without inline styles allows. Ctrl-Enter calls `run`. */
export function openEditor(host: HTMLElement, text: string, run: () => void): Editor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  const language = new Compartment();
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      extensions: [
        keymap.of([{ key: 'Mod-Enter', run: () => (run(), true) }]),
        keymap.of([...completionKeymap, ...historyKeymap, ...defaultKeymap]),
        language.of(sql({ dialect: StandardSQL, upperCaseKeywords: true })),
        autocompletion(),
        bracketMatching(),
        history(),
        lineNumbers(),
        placeholder('SELECT … FROM v_markets'),
        syntaxHighlighting(COLOURS),
        THEME,
        replaceSelection,
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': 'SQL statement; Escape, then Tab leaves the editor' }),
      ],
    }),
  });
  return {
    text: () => view.state.doc.toString(),
    replace: (next) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } }),
    know: (views) =>
      view.dispatch({
        effects: language.reconfigure(sql({ dialect: StandardSQL, upperCaseKeywords: true, schema: views })),
      }),
    close: () => {
      view.destroy();
      root.replaceChildren();
    },
  };
}
