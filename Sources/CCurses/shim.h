// SPDX-License-Identifier: Apache-2.0
#pragma once
// Wide characters, and functions in place of macros: curs_add_wch(3), curs_util(3).
#define NCURSES_WIDECHAR 1
#define NCURSES_NOMACROS 1
#include <curses.h>
#include <stdint.h>
#include <stdio.h>
#include <term.h>

// What Swift cannot import: variables that C code changes (stdscr, stdout), macros with casts (A_BOLD).

// The terminal of standard input and output, NULL for one that terminfo(5) does not know.
static inline SCREEN *ccurses_open(void) { return newterm(NULL, stdout, stdin); }

static inline WINDOW *ccurses_screen(void) { return stdscr; }

static const uint32_t CCURSES_BOLD = A_BOLD;
static const uint32_t CCURSES_DIM = A_DIM;
static const uint32_t CCURSES_REVERSE = A_REVERSE;

static inline uint32_t ccurses_pair(int pair) { return COLOR_PAIR(pair); }

// curs_mouse(3): the buttons of a mouse that only points and scrolls.
static const uint32_t CCURSES_CLICK = BUTTON1_CLICKED | BUTTON1_PRESSED;
static const uint32_t CCURSES_DOUBLE_CLICK = BUTTON1_DOUBLE_CLICKED;
static const uint32_t CCURSES_WHEEL_UP = BUTTON4_PRESSED;
static const uint32_t CCURSES_WHEEL_DOWN = BUTTON5_PRESSED;

// A capability of the terminal, NULL where it has none: curs_terminfo(3). It answers -1 for a name
// that is no string's.
static inline const char *ccurses_capability(const char *name) {
    const char *text = tigetstr((char *)name);
    return text == (const char *)-1 ? NULL : text;
}
